import { registerAccount, registerWebhook } from '../../../support/client.js';
import { daysBack, fillLog, type LogOwner } from './log-fill.js';
import { queriesOf, type LogShipper } from './log-queries.js';
import type { Bench, Scenario } from './scenario.js';
import { timeAll } from './timed.js';

const deliveries = 1_000_000;
const shippers: [LogOwner['kind'], number][] = [
  ['big', 3],
  ['many', 100],
  ['dead', 1],
  ...Array.from({ length: 7 }, (): [LogOwner['kind'], number] => ['usual', 1]),
];

export const log: Scenario = {
  name: 'log',
  promise: 'a log of 1,000,000 deliveries: every filter of GET /v1/deliveries answers in at most 50 ms (p99)',
  run: async (bench) => {
    const { url } = await bench.deploy('all');
    const filled: LogShipper[] = [];
    for (const [kind, webhooks] of shippers) filled.push(await register(bench, url, kind, webhooks));
    const owners = filled.map(({ owner }) => owner);
    await fillLog(bench, owners, bench.scaled(deliveries));
    const [row] = await bench.sql<{ n: number }>(
      'select ((select count(*) from deliveries) + (select count(*) from outbox))::int as n',
    );
    const queries = await queriesOf(bench, filled, daysBack);
    const figures = await timeAll(
      queries.map(({ query, ...rest }) => ({ ...rest, path: `/v1/deliveries?${query}` })),
      200,
    );
    return [{ name: 'deliveries', value: row!.n, unit: '' }, ...figures];
  },
};

/** Its webhooks are paused, so that held deliveries stay held. */
async function register(bench: Bench, url: string, kind: LogOwner['kind'], webhooks: number) {
  const account = await registerAccount({ url });
  const webhookIds: string[] = [];
  while (webhookIds.length < webhooks)
    webhookIds.push((await registerWebhook(account, bench.receiver.url, { status: 'PAUSED' })).webhookId);
  return { account, owner: { shipperId: account.shipperId, webhookIds, kind } };
}
