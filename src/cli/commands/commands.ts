import type { Command } from 'commander';
import { addAccountCommands } from './accounts.js';
import { addAuditCommand } from './audit.js';
import type { OperatorClient } from '../client.js';
import { loadFile } from './load-file.js';
import { idArgument, jsonArgument, numberArgument, UsageError, wholeNumberArgument } from '../options.js';
import { example, requestWith, settingsOf, type Data, type Request } from '../request.js';
import { tableOf } from '../lists.js';
import { addShipmentCommands } from './shipments.js';
import { aligned, printable, write, type Io } from '../terminal.js';

/** Sealing many secrets anew takes its time. */
const rotationTimeoutMs = 300_000;

/** Adds the operator's commands (contract, section 6) to the program. */
export function addCommands(program: Command, io: Io, finish: (code: number) => void): void {
  const request = requestWith(io);
  addAccountCommands(program, request, io);
  addAuditCommand(program, request);

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
        await loadFile(file, {
          ...settingsOf(command, io),
          io,
          say: (text) => write(io.stderr, printable(text)),
        }),
      );
    });

  addShipmentCommands(program, io, request);
  addMaintenanceCommands(program, request);

  program
    .command('explain')
    .description('why a delivery is where it is: what it waits for, who holds it, and what happens next')
    .requiredOption('--delivery <id>', 'id of the delivery', idArgument)
    .addHelpText('after', example('explain --delivery 0199…'))
    .action(
      request(
        (client, { delivery }: { delivery: string }) =>
          client.get(`/operator/v1/deliveries/${encodeURIComponent(delivery)}/explanation`),
        ({ why, next, ...facts }) =>
          `${printable(`${String(why)}\nNext: ${String(next)}\n`)}\n${aligned(facts)}`,
      ),
    );

  program
    .command('status')
    .description(
      'how the service is doing: queues, lag, what is owed to webhooks that are not called, which circuits are open, replays, versions',
    )
    .addHelpText('after', example('status'))
    .action(request((client) => client.get('/operator/v1/status'), statusText));

  // Run by main.ts, for it is no operator's: here it is for the list of commands.
  program
    .command('listen')
    .description("forward an account's notifications to your own machine: listen --help")
    .helpOption(false)
    .allowUnknownOption()
    .action(() => {
      throw new UsageError('listen comes first: listen --forward http://localhost:3000/hook');
    });
}

/** Adds the commands for what an operator does to a running deployment. */
function addMaintenanceCommands(program: Command, request: Request): void {
  const replay = program.command('replay').description('replays that catch up on what a webhook missed');
  replay
    .command('cancel')
    .description('cancel a replay under way (see status); nothing of it is sent after that')
    .requiredOption('--id <id>', 'id of the replay', idArgument)
    .addHelpText('after', example('replay cancel --id 0199…'))
    .action(
      request((client, { id }: { id: string }) =>
        client.post(`/operator/v1/replays/${encodeURIComponent(id)}/cancel`, '{}'),
      ),
    );

  const feed = program.command('feed').description('the feed of events');
  feed
    .command('renew')
    .description(
      "invalidate all its cursors, after a snapshot of PostgreSQL's disk was put back: readers of the feed begin again",
    )
    .addHelpText('after', example('feed renew'))
    .action(request((client) => client.post('/operator/v1/feed/renew', '{}', { repeatable: true })));

  const secrets = program.command('secrets').description('webhook secrets at rest');
  secrets
    .command('rotate-key')
    .description(
      'seal what webhooks keep secret with the current SECRETS_KEY; then SECRETS_KEY_PREVIOUS can go',
    )
    .addHelpText('after', example('secrets rotate-key'))
    .action(
      request((client) =>
        client.post('/operator/v1/secrets/rotate-key', '{}', {
          repeatable: true,
          timeoutMs: rotationTimeoutMs,
        }),
      ),
    );
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

const circuitColumns = ['webhookId', 'shipperId', 'failingSince', 'nextProbeAt'];

const uncalledColumns = ['shipperId', 'deliveries', 'webhooks', 'name'];

/** `200000+` means that there are more than were counted. */
const orMore = ({ isMore, ...others }: Data): Data =>
  isMore === true ? { ...others, deliveries: `${String(others.deliveries)}+` } : others;

/** Shippers and open circuits, of which there may be a hundred, come last, with one line for each. */
function statusText({ circuits, uncalled, ...others }: Data): string {
  const { shippers, ...sums } = (uncalled ?? {}) as Data;
  const table = (name: string, columns: string[], items: unknown) =>
    Array.isArray(items) && items.length > 0 ? `\n${tableOf(name, columns)({ [name]: items })}` : '';
  return [
    aligned({ ...others, ...(uncalled !== undefined && { uncalled: orMore(sums) }) }),
    table('shippers', uncalledColumns, Array.isArray(shippers) ? shippers.map(orMore) : []),
    table('circuits', circuitColumns, circuits),
  ].join('');
}
