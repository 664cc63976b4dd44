import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Data, Send } from '../client.js';
import { UsageError, example, idArgument, type Request } from '../command.js';
import type { Io } from '../terminal.js';

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
  rangeOptions(program.command('redeliver'))
    .description('send a delivery again now, or all failed ones of a webhook in a span, for its shipper')
    .option('--delivery <id>', 'id of the delivery', idArgument)
    .addHelpText(
      'after',
      example('redeliver --delivery 0199…', 'redeliver --webhook 0199… --from 2026-11-21 --wait'),
    )
    .action(
      request((send, { delivery, ...range }: Range & { delivery?: string }) => {
        if ((delivery === undefined) === (range.webhook === undefined))
          throw new UsageError('Give either --delivery, or --webhook with --from.');
        if (delivery === undefined) return replay(send, io, { ...range, status: 'FAILED' });
        return send('post', '/operator/v1/deliveries/{delivery}/redeliver', { path: { delivery }, body: {} });
      }),
    );
  const replays = rangeOptions(program.command('replay'))
    .description('send what a webhook missed in a span, for its shipper')
    .option('--status <status>', 'only FAILED, HELD, PENDING or NEVER_ATTEMPTED')
    .option('--tracking-id <id>', 'only of this shipment', idArgument)
    .addHelpText('after', example('replay --webhook 0199… --from 2026-11-21 --to 2026-11-22 --wait'))
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
    replays
      .command(name)
      .description(description)
      .requiredOption('--id <id>', 'id of the replay', idArgument)
      .addHelpText('after', example(`replay ${name} --id 0199…`))
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
  const bar = (stderr as { isTTY?: boolean }).isTTY
    ? new SingleBar({
        stream: stderr,
        format: '{bar} {value} of {total} settled',
        forceRedraw: true,
        linewrap: true,
        gracefulExit: false,
        clearOnComplete: true,
      })
    : null;
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
