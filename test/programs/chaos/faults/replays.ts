import { setTimeout as sleep } from 'node:timers/promises';
import { registerAccount, registerWebhook, type Account } from '../../../support/client.js';
import { addMissedEvents } from '../../../support/replays.js';
import type { PostgresEngine } from '../world/engines.js';
import type { Fault } from './fault.js';
import { respondedWithin, notAccepted } from './figures.js';

const address = 'http://127.0.0.1:9/';
const atMostOwed = 6_000;
const watchEveryMs = 250;

/** Each reads all events, and finds nothing to send unless the webhook is paused. */
async function replaysOf(account: Account, count: number, paused = false) {
  const { webhookId } = await registerWebhook(account, address, {
    interests: ['*'],
    ...(paused && { status: 'PAUSED' }),
  });
  const body = {
    from: Date.now() - 3 * 3_600_000,
    to: Date.now(),
    ...(!paused && { status: 'FAILED' }),
  };
  /** Honours Retry-After. */
  const ask = async () => {
    for (;;) {
      const startedAt = performance.now();
      const { httpStatus } = await account.call(`/v1/webhooks/${webhookId}/replay`, { body });
      if (httpStatus !== 429) return { httpStatus, durationMs: performance.now() - startedAt };
      await sleep(1_000);
    }
  };
  return { webhookId, asks: Array.from({ length: count }, () => ask) };
}

function watchOwed({ sql }: PostgresEngine) {
  let most = 0;
  const look = async () => {
    const [row] = await sql<{ n: number }>(
      'select count(*)::int as n from outbox where replay_id is not null',
    );
    most = Math.max(most, row!.n);
  };
  const timer = setInterval(() => void look().catch(() => undefined), watchEveryMs);
  return async () => {
    clearInterval(timer);
    await look();
    return most;
  };
}

const many: Fault = {
  name: 'B18',
  promise:
    '40 replays at once over 200,000 events, three of them of a paused webhook: order p99 of others ≤ 250 ms, every order of theirs accepted; ≤ 6,000 outbox rows of replays',
  workers: 2,
  inFlight: 0,
  inject: async ({ world, pause, times, note }) => {
    const { service, postgres } = world;
    const [one, two] = [
      await registerAccount(service, 'one@example.com'),
      await registerAccount(service, 'two@example.com'),
    ];
    const events = Math.max(10_000, times(200_000));
    for (const { shipperId } of [one, two]) await addMissedEvents(postgres!, shipperId, events);
    const webhooks = [
      await replaysOf(one, 10),
      await replaysOf(one, 10),
      await replaysOf(two, 10),
      await replaysOf(two, 7),
      await replaysOf(two, 3, true),
    ];
    const owed = watchOwed(postgres!);
    const responses = await Promise.all(webhooks.flatMap(({ asks }) => asks).map((ask) => ask()));
    await pause(60_000);
    const refused = responses.filter(({ httpStatus }) => httpStatus !== 202);
    const slowestMs = Math.round(Math.max(...responses.map(({ durationMs }) => durationMs)));
    note({
      name: 'replays refused, of 40',
      value: refused.length,
      unit: '',
      atMost: 0,
      note: `slowest response after ${slowestMs} ms`,
    });
    note({ name: 'outbox rows of replays', value: await owed(), unit: '', atMost: atMostOwed });
    const [row] = await postgres!.sql<{ n: number }>(
      `select count(*)::int as n from replays where status = 'RUNNING' and walked_at is null`,
    );
    note({ name: 'replays still looking, of 40', value: row!.n, unit: '' });
    for (const [n, { webhookId }] of webhooks.entries())
      await (n < 2 ? one : two).call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  },
  figures: (outcome) => [respondedWithin(outcome, 250), notAccepted(outcome)],
};

export const replayFaults: Fault[] = [many];
