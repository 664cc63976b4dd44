import type { Command } from 'commander';
import { createClient, type OperatorClient } from './client.js';
import { addAccountCommands } from './cli-accounts.js';
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
import type { Data, Request } from './cli-request.js';

type Common = { url?: string; token?: string; json?: true };

const example = (line: string) => `\nExample:\n  npm run operator -- ${line}\n`;

/** Adds every command of the contract's section 6 to the program. */
export function addCommands(program: Command, io: Io, finish: (code: number) => void): void {
  const settings = (command: Command) => {
    const { url, token, json } = command.optsWithGlobals<Common>();
    const client = createClient({ url: serviceUrl(url, io.env), token: operatorToken(token, io.env) });
    return { client, json: json === true };
  };

  const request: Request = (call) => async (options, command) => {
    const { client, json } = settings(command);
    const data = await call(client, options);
    await write(io.stdout, json ? `${JSON.stringify(data, null, 2)}\n` : aligned(data));
  };

  addAccountCommands(program, request, example);

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
