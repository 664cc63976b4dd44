import type { Command } from 'commander';
import {
  UsageError,
  about,
  example,
  idArgument,
  listAt,
  ofShipper,
  paged,
  shipperOption,
  wholeNumberArgument,
  inTime,
  type Request,
} from '../command.js';
import { printable, wrapped } from '../../client/listen/text.js';
import { attemptFacts } from './deliveries.js';
import { listOf, facts, filledColumns, fitted, items, known, sectionsText, type Data } from '../terminal.js';

export function addSupportCommands(program: Command, request: Request, shipment: Command): void {
  addExplainCommand(program, request);
  inTime(paged(ofShipper(shipment.command('list'))), 'those accepted')
    .description('list the shipments of a shipper, newest first')
    .option('--shipper-tracking-id <id>', "only those with this identifier of the shipper's")
    .option('--state <state>', 'only those in this state now, such as IN_TRANSIT')
    .addHelpText('after', example('shipment list <shipperId> --shipper-tracking-id ORDER-1001'))
    .action(
      request(
        listAt('/operator/v1/shipments'),
        listOf('shipments', ['trackingId', 'state', 'acceptedAt', 'updatedAt', 'shipperTrackingId'], 2),
      ),
    );
  const webhook = program.command('webhook').description('webhooks of all shippers');
  for (const [name, description] of [
    ['pause', 'pause a webhook: its deliveries are held, and only an operator can resume it'],
    ['resume', 'resume a webhook that an operator has paused, and send what was held'],
  ] as const)
    about(webhook.command(name), '--webhook <id>', 'id of the webhook')
      .description(description)
      .addHelpText('after', example(`webhook ${name} <webhookId>`))
      .action(
        request((send, path: { webhook: string }) =>
          send('post', `/operator/v1/webhooks/{webhook}/${name}`, { path, body: {}, repeatable: true }),
        ),
      );
  for (const [command, description, usage, columns] of [
    [
      webhook.command('top'),
      'list the webhooks of all shippers that fail, are owed the most, or are slow',
      'webhook top --sort backlog',
      topColumns,
    ],
    [
      ofShipper(webhook.command('list')),
      'list the webhooks of a shipper, those that fail first',
      'webhook list <shipperId>',
      ofOneShipper,
    ],
  ] as const)
    command
      .description(description)
      .option('--sort <order>', 'what leads: failing, backlog or slow (default: failing)')
      .option('--limit <number>', 'maximum number of webhooks, 1 to 250 (default: 50)', wholeNumberArgument)
      .addHelpText('after', example(usage))
      .action(request(listAt('/operator/v1/webhooks'), listOf('webhooks', columns, 2, rounded)));
}

const explainedAtMost = 20;
const isOpen = ({ status }: Data) => status === 'PENDING' || status === 'HELD';

interface ToExplain {
  delivery?: string;
  trackingId?: string;
  shipper?: string;
  shipperTrackingId?: string;
}

/** One delivery, or those of a shipment that are not finished: `{explanations, isMore}`. */
function addExplainCommand(program: Command, request: Request): void {
  const explain = request(
    async (send, { delivery, trackingId, shipper: shipperId, shipperTrackingId }: ToExplain) => {
      const explanationOf = (id: string) =>
        send('get', '/operator/v1/deliveries/{delivery}/explanation', { path: { delivery: id } });
      if (delivery !== undefined) return explanationOf(delivery);
      if (trackingId === undefined && (shipperId === undefined || shipperTrackingId === undefined))
        throw new UsageError('Give --delivery, --tracking-id, or --shipper with --shipper-tracking-id.');
      const query = { trackingId, shipperId, shipperTrackingId, limit: '250' };
      const open = items((await send('get', '/operator/v1/deliveries', { query })).deliveries).filter(isOpen);
      const explanations: Data[] = [];
      for (const { deliveryId } of open.slice(0, explainedAtMost))
        explanations.push(await explanationOf(String(deliveryId)));
      return { explanations, isMore: open.length > explainedAtMost };
    },
    explanationText,
  );
  shipperOption(program.command('explain'), 'shipper of --shipper-tracking-id')
    .description(
      'explain what a delivery waits for, or each unfinished one of a shipment, and what happens next',
    )
    .argument('[id]', "id of a delivery, a tracking id, or with --shipper the shipper's own identifier")
    .option('--delivery <id>', 'id of the delivery', idArgument)
    .option('--tracking-id <id>', 'all unfinished deliveries of this shipment', idArgument)
    .option('--shipper-tracking-id <id>', "the same, by the shipper's own identifier; it needs --shipper")
    .addHelpText('after', example('explain <trackingId>', 'explain <deliveryId>'))
    .action((id: string | undefined, options: ToExplain, command: Command) => {
      if (id !== undefined) command.setOptionValue(optionOf(id, options), id);
      return explain(command);
    });
}

/** Guesses what an id without a name is: a shipper's own may look like anything. */
function optionOf(id: string, { shipper }: ToExplain): keyof ToExplain {
  if (shipper !== undefined) return 'shipperTrackingId';
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return 'delivery';
  if (/^[A-Z0-9]{1,64}$/.test(id)) return 'trackingId';
  throw new UsageError(
    `${id} is neither a delivery id nor a tracking id. If it is a shipper's own number, give --shipper, too.`,
  );
}

function explanationText({ explanations, isMore, ...one }: Data, width: number): string {
  const sentences = ({ why, next }: Data) =>
    printable(wrapped(`${String(why)}\nNext: ${String(next)}\n`, width));
  if (explanations === undefined) {
    const { why, next, waitsFor, lastAttempt, ...rest } = one;
    const ours = { ...rest, shipmentId: null }; // commands take its trackingId
    const rows = items(waitsFor);
    const columns = filledColumns(rows, ['reason', 'until']);
    return `${sentences({ why, next })}\n${sectionsText([
      ['Delivery', facts(known(ours), width - 2)],
      ['Waits for', rows.length > 0 ? fitted(rows, columns, 1, width - 2) : ''],
      ['Last attempt', facts(attemptFacts((lastAttempt ?? {}) as Data), width - 2)],
    ])}`;
  }
  const texts = items(explanations).map(
    (each) =>
      `${String(each.state)} to webhook ${String(each.webhookId)},\n  delivery ${String(each.deliveryId)}:\n${sentences(each)}`,
  );
  if (texts.length === 0)
    return wrapped('No delivery of this shipment waits: each is finished, or there is none.\n', width);
  return texts.join('\n') + (isMore === true ? `\nMore wait than these ${explainedAtMost}.\n` : '');
}

const topColumns = [
  ...['webhookId', 'status', 'circuit', 'pending', 'failed', 'p95Ms'],
  ...['heldBy', 'failingSince', 'shipperId', 'shipperName', 'name', 'targetAddress'],
];
const ofOneShipper = topColumns.filter((column) => !column.startsWith('shipper'));

/** `200+` means more than were counted, and `failed` is in percent. */
const rounded = ({ pendingCount, isMore, failureRate, ...webhook }: Data): Data => ({
  ...webhook,
  pending: isMore === true ? `${String(pendingCount)}+` : pendingCount,
  failed: typeof failureRate === 'number' ? `${Math.round(failureRate * 100)}%` : failureRate,
});
