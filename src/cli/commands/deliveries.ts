import type { Command } from 'commander';
import type { Data } from '../client.js';
import { wrapped } from '../../client/listen/text.js';
import {
  UsageError,
  example,
  idArgument,
  inTime,
  paged,
  shipperOption,
  type Given,
  type Request,
} from '../command.js';
import { aligned, fitted, items, known, sectionsText, widthOf, type Io, type Section } from '../terminal.js';

const deliveryColumns = [
  ...['deliveryId', 'status', 'state', 'lastAttempt.statusCode', 'lastAttempt.errorCode', 'createdAt'],
  ...['attemptCount', 'heldBy', 'reason', 'nextAttemptAt', 'trackingId', 'shipperTrackingId', 'webhookId'],
  'targetAddress',
];

/** A delivery that failed and is tried again is `RETRYING`, as in the portal; the API has it as `PENDING`. */
const inWords = (delivery: Data): Data =>
  delivery.status === 'PENDING' && Number(delivery.attemptCount) > 0
    ? { ...delivery, status: 'RETRYING' }
    : delivery;

export function addDeliveryCommands(program: Command, request: Request, io: Io): void {
  const delivery = program.command('delivery').description('deliveries of a shipper');
  inTime(
    paged(shipperOption(delivery.command('list'), 'shipper whose deliveries are listed')),
    'those recorded',
  )
    .description('list the deliveries of a shipper or a shipment, newest first')
    .option('--tracking-id <id>', 'only those of this shipment; it needs no --shipper', idArgument)
    .option('--shipper-tracking-id <id>', "only those of shipments with this identifier of the shipper's")
    .option('--webhook <id>', 'only those to this webhook', idArgument)
    .option('--event <id>', 'only those of this event: the webhook-id of a notification', idArgument)
    .option('--state <state>', 'only those of this state, such as IN_TRANSIT')
    .option('--status <status>', 'only those with this status, such as HELD or FAILED')
    .option('--status-code <code>', 'only those whose last attempt got this HTTP status')
    .option('--error-code <code>', 'only those whose last attempt failed with this error, such as TIMEOUT')
    .addHelpText('after', example('delivery list --shipper 0199… --status-code 500 --from 2026-11-21'))
    .action(
      request(
        (send, { shipper: shipperId, webhook: webhookId, event: eventId, ...filters }: Given) => {
          if (shipperId === undefined && filters.trackingId === undefined)
            throw new UsageError('Give --shipper or --tracking-id.');
          const query = { shipperId, webhookId, eventId, ...filters };
          return send('get', '/operator/v1/deliveries', { query });
        },
        (data) =>
          fitted({ name: 'deliveries', columns: deliveryColumns, headColumns: 3, width: widthOf(io) })({
            ...data,
            deliveries: Array.isArray(data.deliveries) ? data.deliveries.map(inWords) : data.deliveries,
          }),
      ),
    );
  const show = request(
    (send, { delivery: id, ...query }: Given) => {
      if (id === undefined) throw new UsageError('Give the id of a delivery, or --delivery.');
      return send('get', '/operator/v1/deliveries/{id}', { path: { id }, query });
    },
    deliveryText(widthOf(io)),
  );
  delivery
    .command('show')
    .description('show a delivery with its payload and its attempts; the audit log records it')
    .argument('[id]', 'id of the delivery', idArgument)
    .option('--delivery <id>', 'the same', idArgument)
    .option('--attempts-cursor <cursor>', 'continue with earlier attempts')
    .addHelpText('after', example('delivery show 0199…'))
    .action((id: string | undefined, options: Given, command: Command) =>
      show(id === undefined ? options : { ...options, delivery: id }, command),
    );
}

const deliveryText =
  (width: number) =>
  (data: Data): string => {
    const { deliveryId, payload, attempts, nextAttemptsCursor, ...rest } = inWords(data);
    const facts = Object.entries(rest).filter(([name]) => name !== 'lastAttempt'); // also the first of the attempts
    const text = sectionsText([
      [`Delivery ${String(deliveryId)}`, aligned(known(Object.fromEntries(facts)), width - 2)],
      ['Payload', aligned(payload ?? {}, width - 2)],
      ...items(attempts).map(attemptSection(width - 2)),
    ]);
    return typeof nextAttemptsCursor === 'string'
      ? `${text}more: --attempts-cursor ${nextAttemptsCursor}\n`
      : text;
  };

/** Begins with the outcome, and leaves out the causes that it did not wait for. */
export function attemptFacts(attempt: Data): Data {
  const { startedAt, statusCode, errorCode, errorDetail, waitedMs, ...others } = attempt;
  const waits = Object.entries((waitedMs ?? {}) as Data).filter(([, ms]) => ms !== 0);
  const waited = waits.map(([cause, ms]) => `${cause} ${String(ms)}`).join(', ');
  return known({
    ...{ startedAt, statusCode, errorCode, errorDetail, ...others },
    waitedMs: waitedMs ? waited || '0' : null,
  });
}

const attemptSection =
  (width: number) =>
  ({ number, requestHeaders, responseHeaders, responseBody, ...facts }: Data): Section => {
    const beneath: Section[] = [
      ['Request headers', aligned(requestHeaders ?? {}, width - 2)],
      ['Response headers', aligned(responseHeaders ?? {}, width - 2)],
      ['Response body', typeof responseBody === 'string' ? wrapped(responseBody, width - 2) : ''],
    ];
    const texts = [aligned(attemptFacts(facts), width), sectionsText(beneath)];
    return [`Attempt ${String(number)}`, `${texts.filter(Boolean).join('\n').trimEnd()}\n`];
  };
