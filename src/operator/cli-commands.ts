import type { Command } from 'commander';
import { createClient, type OperatorClient } from './client.js';
import { loadFile } from './cli-load-file.js';
import { addMaintenanceCommands } from './cli-maintenance.js';
import {
  idArgument,
  jsonArgument,
  numberArgument,
  operatorToken,
  serviceUrl,
  wholeNumberArgument,
} from './cli-options.js';
import { aligned, printable, write } from './cli-print.js';
import type { Io } from './cli-program.js';

type Data = Record<string, unknown>;
type Common = { url?: string; token?: string; json?: true };

const example = (line: string) => `\nExample:\n  npm run operator -- ${line}\n`;

/** Adds every command of the contract's section 6 to the program. */
export function addCommands(program: Command, io: Io, finish: (code: number) => void): void {
  const settings = (command: Command) => {
    const { url, token, json } = command.optsWithGlobals<Common>();
    const client = createClient({ url: serviceUrl(url, io.env), token: operatorToken(token, io.env) });
    return { client, json: json === true };
  };

  /** A command that makes one request and prints its answer. */
  const request =
    <Options>(call: (client: OperatorClient, options: Options) => Promise<Data>) =>
    async (options: Options, command: Command) => {
      const { client, json } = settings(command);
      const data = await call(client, options);
      await write(io.stdout, json ? `${JSON.stringify(data, null, 2)}\n` : aligned(data));
    };

  const shipper = program.command('shipper').description('shippers');
  shipper
    .command('create')
    .description('register a shipper; its account key is shown here only')
    .requiredOption('--name <name>', 'name of the organization')
    .addHelpText('after', example('shipper create --name "Books and more"'))
    .action(
      request((client, { name }: { name: string }) =>
        client.post('/operator/v1/shippers', JSON.stringify({ name })),
      ),
    );

  const user = program.command('user').description('users of a shipper');
  user
    .command('create')
    .description('register a user; without a password, hand over the link to set one')
    .requiredOption('--shipper <id>', 'id of the shipper', idArgument)
    .requiredOption('--email <address>', 'e-mail address, used to log in')
    .option(
      '--password <password>',
      '12 to 128 characters; others on this machine may see it while this runs',
    )
    .addHelpText('after', example('user create --shipper 0199… --email ana@example.com'))
    .action(
      request((client, { shipper, ...body }: { shipper: string; email: string; password?: string }) =>
        client.post(
          `/operator/v1/shippers/${encodeURIComponent(shipper)}/users`,
          JSON.stringify({ email: body.email, password: body.password }),
        ),
      ),
    );
  user
    .command('link')
    .description('make a new link, good for 24 hours and one use, at which a user sets a password')
    .requiredOption('--user <id>', 'id of the user', idArgument)
    .addHelpText('after', example('user link --user 0199…'))
    .action(
      request((client, { user: id }: { user: string }) =>
        client.post(`/operator/v1/users/${encodeURIComponent(id)}/password-link`, '{}'),
      ),
    );

  const event = program.command('event').description('state events of shipments');
  event
    .command('send')
    .description('report that a shipment reached a state')
    .requiredOption('--tracking-id <id>', 'tracking id of the shipment', idArgument)
    .requiredOption('--state <state>', 'such as PICKED_UP, IN_TRANSIT, DELIVERED')
    .option('--event-id <id>', 'makes the event idempotent, so that it can be sent again without harm')
    .option(
      '--timestamp <ms>',
      'when it happened, milliseconds since 1970 (default: now)',
      wholeNumberArgument,
    )
    .option('--lat <degrees>', 'latitude', numberArgument)
    .option('--lng <degrees>', 'longitude', numberArgument)
    .option('--anomalies <json>', 'any JSON value', jsonArgument)
    .option('--evidences <json>', 'a JSON array', jsonArgument)
    .addHelpText('after', example('event send --tracking-id PH123 --state PICKED_UP --lat 19.4 --lng -99.1'))
    .action(request((client, options: Record<string, unknown>) => sendEvent(client, options)));
  event
    .command('load')
    .description(
      'report many events: one JSON object a line, with trackingId, state and what event send takes',
    )
    .argument('<file>', 'file of lines, - for standard input')
    .addHelpText('after', `${example('event load events.ndjson')}\nA line of the file:\n  ${sampleLine}\n`)
    .action(async (file: string, _options: object, command: Command) => {
      finish(
        await loadFile(file, { ...settings(command), io, say: (text) => write(io.stderr, printable(text)) }),
      );
    });

  addMaintenanceCommands(program, request, example);

  program
    .command('status')
    .description('how the service is doing: queues, lag, open circuits, replays, versions')
    .addHelpText('after', example('status'))
    .action(request((client) => client.get('/operator/v1/status')));
}

const sampleLine =
  '{"trackingId": "PH123", "state": "PICKED_UP", "eventId": "scan-77", "timestamp": 1793000000000}';

function sendEvent(
  client: OperatorClient,
  { trackingId, ...options }: Record<string, unknown>,
): Promise<Data> {
  const { state, eventId, timestamp, lat, lng, anomalies, evidences } = options;
  return client.post(
    `/operator/v1/shipments/${encodeURIComponent(trackingId as string)}/events`,
    JSON.stringify({ state, eventId, timestamp, lat, lng, anomalies, evidences }),
    { repeatable: Boolean(eventId) },
  );
}
