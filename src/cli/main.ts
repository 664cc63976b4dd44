import { Command, CommanderError } from 'commander';
import {
  Unreachable,
  UsageError,
  about,
  example,
  confirm,
  idArgument,
  listAt,
  paged,
  programName,
  requestWith,
  shipperOption,
  yesOption,
  type Request,
} from './command.js';
import { listOf, minWidthToWrap, widthOf, write, type Io } from './terminal.js';
import { helpWidth, wrapped } from '../client/listen/text.js';
import { addDeliveryCommands, addResendCommands } from './commands/deliveries.js';
import { addErasureCommands } from './commands/erasures.js';
import { addEventCommands } from './commands/events.js';
import { addShipperCommands, addUserCommands } from './commands/shippers.js';
import { statusText } from './commands/status.js';
import { addSupportCommands } from './commands/support.js';

const exitCode = { refused: 1, usage: 2, unavailable: 69 }; // 69: EX_UNAVAILABLE of sysexits.h

const notes = `
Ids are printed whole, and go as they are into every command that takes an <id> or [id].
Exit codes: 0 done, 1 refused by the service, 2 wrong usage, 69 service not reachable.`;

/** `finish` gets the exit code of a command that ends without an error. */
function createProgram(io: Io, finish: (code: number) => void): Command {
  const program = new Command(programName(io.env))
    .description(
      "Parcelhook's operator command line: registers shippers and users, reports state events, shows the status.",
    )
    .option(
      '--url <url>',
      'address of the service (default: PARCELHOOK_URL, else http://localhost:PORT or 8080)',
    )
    .option(
      '--token <token>',
      'operator token (default: OPERATOR_TOKEN or OPERATOR_TOKEN_FILE, else the one in DATA_DIR/secrets.json)',
    )
    .option('--json', 'print the response data as JSON')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(wrapped(text, helpWidth(io.stdout, io.env))),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, print) => print(wrapped(text, widthOf(io, io.stderr))),
      getOutHelpWidth: () => helpWidth(io.stdout, io.env),
      getErrHelpWidth: () => helpWidth(io.stderr, io.env),
    })
    .configureHelp({ showGlobalOptions: true, minWidthToWrap })
    .addHelpText('after', wrapped(notes, helpWidth(io.stdout, io.env)))
    .addHelpText(
      'after',
      example(
        'shipper create --name "Acme"',
        'event send <trackingId> --state PICKED_UP',
        '--silent status --json | jq .queues',
      ),
    );
  addCommands(program, io, finish);
  return program;
}

/**
 * Turns `help webhook pause` and `webhook help pause` into `webhook pause --help`: Commander's help knows only one name.
 * Refuses an unknown command and lists the known ones, even below a command that does something by itself.
 */
function lineOf(program: Command, args: string[]): string[] {
  const line = [...args];
  let command = program;
  for (let at = 0; at < line.length && command.commands.length > 0; at += 1) {
    const given = line[at]!;
    if ([...program.options, ...command.options].some((one) => one.required && one.long === given)) at += 1;
    else if (given === 'help') {
      line.splice(at, 1);
      line.push('--help');
      at -= 1;
    } else if (!given.startsWith('-'))
      command = command.commands.find((one) => one.name() === given) ?? refuseUnknown(command, given);
  }
  return line;
}

function refuseUnknown(command: Command, given: string): never {
  const names = command.commands.map((one) => one.name());
  return command.error(`error: unknown command '${given}'; the commands: ${names.join(', ')}`);
}

/** `args` are without `node` and the script. Writes errors to `io.stderr`. */
export async function runCommandLine(args: string[], io: Io): Promise<number> {
  let code = 0;
  try {
    const program = createProgram(io, (finished) => (code = finished));
    await program.parseAsync(lineOf(program, args), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCode.usage;
    const message = error instanceof Error ? error.message : String(error);
    await write(io.stderr, wrapped(`${message}\n`, widthOf(io, io.stderr)));
    if (error instanceof UsageError) return exitCode.usage;
    if (error instanceof Unreachable) return exitCode.unavailable;
    return exitCode.refused;
  }
}

export async function runOperator(args: string[]): Promise<void> {
  // The reader of the output may stop early, as `head` does. That is no error.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') process.exitCode = 1;
    });
  }
  const code = await runCommandLine(args, process);
  process.exitCode ??= code;
}

const rotation = { repeatable: true, timeoutMs: 300_000 };

function addCommands(program: Command, io: Io, finish: (code: number) => void): void {
  const request = requestWith(io);
  addShipperCommands(program, request, io);
  addUserCommands(program, request, io);
  addAuditCommand(program, request);

  addEventCommands(program, request, io, finish);
  const shipment = addShipmentCommands(program, io, request);
  addDeliveryCommands(program, request);
  addSupportCommands(program, request, shipment);
  addResendCommands(program, request, io);
  addErasureCommands(program, io, finish);
  addMaintenanceCommands(program, request);

  program
    .command('status')
    .description(
      'show the processes that run, what is late and whose fault it is, queues, circuits, clocks, replays, versions',
    )
    .addHelpText('after', example('status'))
    .action(request((send) => send('get', '/operator/v1/status'), statusText));

  // src/main.ts runs these, without `operator`. They are listed for the help only.
  program
    .command('listen')
    .description("forward an account's notifications to your own machine: parcelhook listen --help")
    .configureHelp({ formatHelp: () => 'Run it without operator: parcelhook listen --help\n' })
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      throw new UsageError('Put listen first: listen --forward http://localhost:3000/hook');
    });
}

function addMaintenanceCommands(program: Command, request: Request): void {
  const feed = program.command('feed').description('the feed of events');
  feed
    .command('renew')
    .description(
      "invalidate all cursors of the feed, after a snapshot of PostgreSQL's disk was restored; readers begin again",
    )
    .addHelpText('after', example('feed renew'))
    .action(request((send) => send('post', '/operator/v1/feed/renew', { body: {}, repeatable: true })));

  const secrets = program.command('secrets').description('webhook secrets at rest');
  secrets
    .command('rotate-key')
    .description(
      'reseal webhook secrets with the current SECRETS_KEY; afterwards, SECRETS_KEY_PREVIOUS can be removed',
    )
    .addHelpText('after', example('secrets rotate-key'))
    .action(request((send) => send('post', '/operator/v1/secrets/rotate-key', { body: {}, ...rotation })));
}

const columns = [
  ...['at', 'action', 'outcome', 'count', 'actor.kind', 'actor.name', 'actor.address'],
  ...['shipperId', 'userId', 'webhookId', 'trackingId', 'tokenId', 'fields'],
];

function addAuditCommand(program: Command, request: Request): void {
  paged(shipperOption(program.command('audit'), 'only about this shipper'))
    .description(
      'show the audit log, newest first: who changed which account, webhook or secret, which operator read a delivery, and who was refused',
    )
    .option('--user <id>', 'only about this user', idArgument)
    .option('--webhook <id>', 'only about this webhook', idArgument)
    .option('--actor <name>', 'only what this operator (by name) or user (by id) did')
    .option('--action <action>', 'only this action, such as SHIPPER_SUSPENDED')
    .option('--outcome <outcome>', 'only DONE or REFUSED')
    .option('--from <time>', 'only at this time or later, such as 2026-11-21T12:00:00Z or 2026-11-21')
    .option('--to <time>', 'only at this time or earlier')
    .addHelpText('after', example('audit --shipper <shipperId> --from 2026-11-21'))
    .action(request(listAt('/operator/v1/audit'), listOf('entries', columns, 3)));
}

const erasure = { repeatable: true, timeoutMs: 30_000 };

function addShipmentCommands(program: Command, io: Io, request: Request): Command {
  const shipment = program.command('shipment').description('shipments');
  about(shipment.command('erase'), '--tracking-id <id>', 'tracking id of the shipment')
    .description("erase a shipment's personal data for good; deliveries still owed are cancelled")
    .option(...yesOption)
    .addHelpText('after', example('shipment erase <trackingId>'))
    .action(
      request(async (send, { yes, ...path }: { trackingId: string; yes?: true }) => {
        await confirm(io, `Erase the personal data of shipment ${path.trackingId} for good?`, yes);
        return send('post', '/operator/v1/shipments/{trackingId}/erase', { path, body: {}, ...erasure });
      }),
    );
  return shipment;
}
