import { Command, CommanderError } from 'commander';
import { Unreachable } from './client.js';
import { addCommands } from './commands/commands.js';
import { UsageError, example } from './command.js';
import { minWidthToWrap, widthOf, write, type Io } from './terminal.js';
import { helpWidth, wrapped } from '../client/listen/text.js';

const exitCode = { refused: 1, usage: 2, unavailable: 69 }; // 69: EX_UNAVAILABLE of sysexits.h

const exitCodes = '\nExit codes: 0 done, 1 refused by the service, 2 wrong usage, 69 service not reachable.';

/** `finish` gets the exit code of a command that ends without an error. */
function createProgram(io: Io, finish: (code: number) => void): Command {
  const program = new Command('parcelhook operator')
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
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, print) => print(wrapped(text, widthOf(io, io.stderr))),
      getOutHelpWidth: () => helpWidth(io.stdout, io.env),
      getErrHelpWidth: () => helpWidth(io.stderr, io.env),
    })
    .configureHelp({ showGlobalOptions: true, minWidthToWrap })
    .addHelpText('after', wrapped(exitCodes, helpWidth(io.stdout, io.env)))
    .addHelpText(
      'after',
      example(
        'shipper create --name "Acme"',
        'event send --tracking-id PH123 --state PICKED_UP',
        '--silent status --json | jq .queues',
      ),
    );
  addCommands(program, io, finish);
  nameCommandsOf(program);
  return program;
}

/** An unknown command is refused with those that there are. */
function nameCommandsOf(command: Command): void {
  if (command.commands.length === 0) return;
  const names = command.commands.map((one) => one.name());
  command.on('command:*', ([given]: [string]) => {
    command.error(`error: unknown command '${given}'; the commands: ${names.join(', ')}`);
  });
  command.commands.forEach(nameCommandsOf);
}

/** `args` are without `node` and the script. Writes errors to `io.stderr`. */
export async function runCommandLine(args: string[], io: Io): Promise<number> {
  let code = 0;
  try {
    await createProgram(io, (finished) => (code = finished)).parseAsync(args, { from: 'user' });
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
