import { registerAccount, registerWebhook } from '../../client.js';
import { percentiles } from '../percentiles.js';
import { daysBack, fillLog, type LogOwner } from './log-fill.js';
import { queriesOf, type LogQuery, type LogShipper } from './log-queries.js';
import type { Bench, Figure, Scenario } from './scenario.js';

const deliveries = 1_000_000;
/** Webhooks of each shipper. */
const shippers: [LogOwner['kind'], number][] = [
  ['big', 3],
  ['many', 100],
  ['dead', 1],
  ...Array.from({ length: 7 }, (): [LogOwner['kind'], number] => ['usual', 1]),
];
const warmRounds = 5;
const rounds = 200;
const boundMs = 50;

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
    const figures = await timeAll(await queriesOf(bench, filled, daysBack));
    return [{ name: 'deliveries', value: row!.n, unit: '' }, ...figures];
  },
};

/** Its webhooks are paused, so that what is held stays so. */
async function register(bench: Bench, url: string, kind: LogOwner['kind'], webhooks: number) {
  const account = await registerAccount({ url });
  const webhookIds: string[] = [];
  while (webhookIds.length < webhooks)
    webhookIds.push((await registerWebhook(account, bench.receiver.url, { status: 'PAUSED' })).webhookId);
  return { account, owner: { shipperId: account.shipperId, webhookIds, kind } };
}

/** All queries in turn, one at a time, so that a machine that is busy for a moment slows none of them alone. */
async function timeAll(queries: LogQuery[]): Promise<Figure[]> {
  const timed = queries.map((query) => ({ ...query, durationsMs: [] as number[], rows: 0 }));
  for (let round = -warmRounds; round < rounds; round += 1) {
    for (const one of timed) {
      const startedAt = performance.now();
      const answer = await one.account.call(`/v1/deliveries?${one.query}`);
      if (answer.httpStatus !== 200) throw new Error(`${one.query}: ${JSON.stringify(answer.body)}`);
      one.rows = (answer.data.deliveries as unknown[]).length;
      if (round >= 0) one.durationsMs.push(performance.now() - startedAt);
    }
  }
  return timed.map(({ name, durationsMs, rows }) => {
    const { p50, p99 } = percentiles(durationsMs);
    return { name, value: p99, unit: 'ms', atMost: boundMs, note: `p50 ${p50.toFixed(1)} ms, ${rows} rows` };
  });
}
