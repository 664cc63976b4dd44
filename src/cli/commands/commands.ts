import type { Command } from 'commander';
import { addDeliveryCommands } from './deliveries.js';
import { addErasureCommands } from './erasures.js';
import { addEventCommands } from './events.js';
import { addResendCommands } from './resend.js';
import { addShipperCommands, addUserCommands } from './shippers.js';
import { statusText } from './status.js';
import { addSupportCommands } from './support.js';
import {
  UsageError,
  confirm,
  example,
  idArgument,
  paged,
  requestWith,
  shipperOption,
  yesOption,
  type Given,
  type Request,
} from '../command.js';
import { filledColumns, fitted, widthOf, type Io } from '../terminal.js';

const rotation = { repeatable: true, timeoutMs: 300_000 };

export function addCommands(program: Command, io: Io, finish: (code: number) => void): void {
  const request = requestWith(io);
  addShipperCommands(program, request, io);
  addUserCommands(program, request, io);
  addAuditCommand(program, request, io);

  addEventCommands(program, request, io, finish);
  const shipment = addShipmentCommands(program, io, request);
  addDeliveryCommands(program, request, io);
  addSupportCommands(program, request, io, shipment);
  addResendCommands(program, request, io);
  addErasureCommands(program, io, finish);
  addMaintenanceCommands(program, request);

  program
    .command('status')
    .description(
      'show the processes that run, what is late and whose fault it is, queues, circuits, clocks, replays, versions',
    )
    .addHelpText('after', example('status'))
    .action(request((send) => send('get', '/operator/v1/status'), statusText(widthOf(io))));

  // main.ts runs these, without `operator`. They are listed for the help only.
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

const columns = ['at', 'action', 'outcome', 'count', 'actor.kind', 'actor.name', 'actor.address'];
const about = ['shipperId', 'userId', 'webhookId', 'shipmentId', 'tokenId', 'fields'];

function addAuditCommand(program: Command, request: Request, io: Io): void {
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
    .addHelpText('after', example('audit --shipper 0199… --from 2026-11-21'))
    .action(
      request(
        (send, { shipper: shipperId, user: userId, webhook: webhookId, ...filters }: Given) =>
          send('get', '/operator/v1/audit', { query: { shipperId, userId, webhookId, ...filters } }),
        (data) => {
          const filled = filledColumns(data, 'entries', [...columns, ...about]);
          return fitted({ name: 'entries', columns: filled, headColumns: 3, width: widthOf(io) })(data);
        },
      ),
    );
}

const erasure = { repeatable: true, timeoutMs: 30_000 };

function addShipmentCommands(program: Command, io: Io, request: Request): Command {
  const shipment = program.command('shipment').description('shipments');
  shipment
    .command('erase')
    .description("erase a shipment's personal data for good; deliveries still owed are cancelled")
    .requiredOption('--tracking-id <id>', 'tracking id of the shipment', idArgument)
    .option(...yesOption)
    .addHelpText('after', example('shipment erase --tracking-id PH123'))
    .action(
      request(async (send, { yes, ...path }: { trackingId: string; yes?: true }) => {
        await confirm(io, `Erase the personal data of shipment ${path.trackingId} for good?`, yes);
        return send('post', '/operator/v1/shipments/{trackingId}/erase', { path, body: {}, ...erasure });
      }),
    );
  return shipment;
}
