import type { Command } from 'commander';
import {
  UsageError,
  about,
  example,
  idArgument,
  inTime,
  listAt,
  paged,
  shipperOption,
  type Given,
  type Request,
  type Send,
} from '../command.js';
import { wrapped } from '../../client/listen/text.js';
import {
  listOf,
  newBar,
  aligned,
  facts,
  items,
  known,
  sectionsText,
  type Io,
  type Section,
  type Data,
} from '../terminal.js';
import { setTimeout as sleep } from 'node:timers/promises';

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

export function addDeliveryCommands(program: Command, request: Request): void {
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
    .addHelpText('after', example('delivery list --shipper <shipperId> --status-code 500 --from 2026-11-21'))
    .action(
      request(
        (send, options: Given) => {
          if (options.shipper === undefined && options.trackingId === undefined)
            throw new UsageError('Give --shipper or --tracking-id.');
          return listAt('/operator/v1/deliveries')(send, options);
        },
        listOf('deliveries', deliveryColumns, 3, inWords),
      ),
    );
  about(delivery.command('show'), '--delivery <id>', 'id of the delivery')
    .description('show a delivery with its payload and its attempts; the audit log records it')
    .option('--attempts-cursor <cursor>', 'continue with earlier attempts')
    .addHelpText('after', example('delivery show <deliveryId>'))
    .action(
      request(
        (send, { delivery, ...query }: { delivery: string }) =>
          send('get', '/operator/v1/deliveries/{delivery}', { path: { delivery }, query }),
        deliveryText,
      ),
    );
}

function deliveryText(data: Data, width: number): string {
  const { deliveryId, payload, attempts, nextAttemptsCursor, ...rest } = inWords(data);
  const ours = Object.entries(rest).filter(([name]) => name !== 'lastAttempt'); // also the first of the attempts
  const text = sectionsText([
    [`Delivery ${String(deliveryId)}`, facts(known(Object.fromEntries(ours)), width - 2)],
    ['Payload', aligned(payload ?? {}, width - 2)],
    ...items(attempts).map(attemptSection(width - 2)),
  ]);
  return typeof nextAttemptsCursor === 'string'
    ? `${text}more: --attempts-cursor ${nextAttemptsCursor}\n`
    : text;
}

/** Begins with the outcome, and leaves out the causes that it did not wait for. */
export function attemptFacts(attempt: Data): Data {
  const { startedAt, statusCode, errorCode, errorDetail, waitedMs, ...others } = attempt;
  const waits = Object.entries((waitedMs ?? {}) as Data).filter(([, ms]) => ms !== 0);
  const waited = waits.map(([cause, ms]) => `${cause} ${String(ms)} ms`).join(', ');
  return known({
    ...{ startedAt, statusCode, errorCode, errorDetail, ...others },
    waited: waitedMs ? waited || '0 ms' : null,
  });
}

const attemptSection =
  (width: number) =>
  ({ number, requestHeaders, responseHeaders, responseBody, ...ours }: Data): Section => {
    const beneath: Section[] = [
      ['Request headers', aligned(requestHeaders ?? {}, width - 2)],
      ['Response headers', aligned(responseHeaders ?? {}, width - 2)],
      ['Response body', typeof responseBody === 'string' ? wrapped(responseBody, width - 2) : ''],
    ];
    const texts = [facts(attemptFacts(ours), width), sectionsText(beneath)];
    return [`Attempt ${String(number)}`, `${texts.filter(Boolean).join('\n').trimEnd()}\n`];
  };

interface Range {
  webhook?: string;
  from?: string;
  to?: string;
  status?: string;
  trackingId?: string;
  wait?: true;
}

const rangeOptions = (command: Command): Command =>
  command
    .option('--webhook <id>', 'id of the webhook', idArgument)
    .option('--from <time>', 'start of the span, such as 2026-11-21T12:00:00Z or 2026-11-21')
    .option('--to <time>', 'end of the span (default: now)')
    .option('--wait', 'wait until all of it is settled, and show the progress');

/** `program` gets `redeliver`, `replay` and the commands below it. */
export function addResendCommands(program: Command, request: Request, io: Io): void {
  about(rangeOptions(program.command('redeliver')), '--delivery <id>', 'id of the delivery', false)
    .description('send a delivery again now, or all failed ones of a webhook in a span, for its shipper')
    .addHelpText(
      'after',
      example('redeliver <deliveryId>', 'redeliver --webhook <webhookId> --from 2026-11-21 --wait'),
    )
    .action(
      request((send, { delivery, ...range }: Range & { delivery?: string }) => {
        if ((delivery === undefined) === (range.webhook === undefined))
          throw new UsageError('Give either the id of a delivery, or --webhook with --from.');
        if (delivery === undefined) return replay(send, io, { ...range, status: 'FAILED' });
        return send('post', '/operator/v1/deliveries/{delivery}/redeliver', { path: { delivery }, body: {} });
      }),
    );
  const replays = rangeOptions(program.command('replay'))
    .description('send what a webhook missed in a span, for its shipper')
    .option('--status <status>', 'only FAILED, HELD, PENDING or NEVER_ATTEMPTED')
    .option('--tracking-id <id>', 'only of this shipment', idArgument)
    .addHelpText('after', example('replay --webhook <webhookId> --from 2026-11-21 --to 2026-11-22 --wait'))
    .action(request((send, range: Range) => replay(send, io, range)));
  for (const [name, method, path, description] of [
    ['show', 'get', '/operator/v1/replays/{id}', 'show the progress of a replay'],
    [
      'cancel',
      'post',
      '/operator/v1/replays/{id}/cancel',
      'cancel a running replay (see status); it sends nothing afterwards',
    ],
  ] as const)
    about(replays.command(name), '--id <id>', 'id of the replay')
      .description(description)
      .addHelpText('after', example(`replay ${name} <replayId>`))
      .action(
        request((send, { id }: { id: string }) =>
          send(method, path, { path: { id }, ...(method === 'post' && { body: {} }) }),
        ),
      );
}

const lookEveryMs = 1_000;

async function replay(send: Send, io: Io, range: Range): Promise<Data> {
  const { webhook, from, to = new Date().toISOString(), status, trackingId, wait } = range;
  if (webhook === undefined || from === undefined) throw new UsageError('Give --webhook and --from.');
  const body = { from, to, status, trackingId };
  const asked = await send('post', '/operator/v1/webhooks/{webhook}/replay', {
    path: { webhook },
    body,
    timeoutMs: 60_000,
  });
  if (!wait || asked.queued === 0) return asked;
  return settled(send, io, String(asked.replayId));
}

/** Shows the progress on a terminal until the replay has ended. */
async function settled(send: Send, { stderr }: Io, id: string): Promise<Data> {
  const bar = stderr.isTTY ? newBar(stderr, '{bar} {value} of {total} settled') : null;
  bar?.start(0, 0);
  try {
    for (;;) {
      const progress = await send('get', '/operator/v1/replays/{id}', { path: { id } });
      if (typeof progress.total === 'number') bar?.setTotal(progress.total);
      bar?.update(Number(progress.done));
      if (progress.status !== 'RUNNING') return progress;
      await sleep(lookEveryMs);
    }
  } finally {
    bar?.stop();
  }
}
