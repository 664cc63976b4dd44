import { setTimeout as sleep } from 'node:timers/promises';
import { registerAccount, registerWebhook } from '../../../support/client.js';
import { target } from '../load.js';
import { settledRssMb, watchMemory, watchPeak } from './memory.js';
import { othersFigures, registerOther, watchOther } from './others.js';
import { until, type Bench, type Scenario } from './scenario.js';
import { createShipments, onTheWay, recordStates } from './shipments.js';

const held = 100_000;
const atLeastPerSecond = 2_500;

export const heldScenario: Scenario = {
  name: 'held',
  promise: '100,000 HELD for a paused webhook: none in Redis, the worker grows by at most 20 MB',
  run: async (bench) => {
    const { url, workerPid } = await bench.deploy('split', { PARKED_AFTER: String(2 * held) });
    const account = await registerAccount({ url });
    const other = await registerOther(bench, url);
    const shipments = bench.scaled(held / onTheWay.length);
    const count = shipments * onTheWay.length;
    const trackingIds = await createShipments(bench, target(url, account), shipments);
    const { webhookId } = await registerWebhook(account, new URL('/held/', bench.receiver.url).href, {
      status: 'PAUSED',
    });
    const alone = await watchOther(bench, other, () => sleep(10_000));
    const before = await look(bench, workerPid);
    await recordStates(bench, url, trackingIds, onTheWay);
    const after = await look(bench, workerPid);
    const [row] = await bench.sql<{ n: number }>(
      `select count(*)::int as n from outbox where webhook_id = $1 and status = 'READY'`,
      [webhookId],
    );
    if (row!.n !== count) throw new Error(`${row!.n} are held, not ${count}`);

    const memory = watchMemory(workerPid);
    const redisPeak = bench.redis && watchPeak(bench.redis.usedMb);
    let releaseMs = 0;
    const meanwhile = await watchOther(bench, other, async () => {
      await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
      releaseMs = await until('all held are delivered', 600_000, async () => {
        const { received } = await bench.receiver.count('held');
        return received >= count;
      });
    });
    const redisPeakMb = await redisPeak?.stop();
    return [
      { name: 'HELD', value: count, unit: '' },
      {
        name: 'worker RSS, more with them',
        value: after.rssMb - before.rssMb,
        unit: 'MB',
        atMost: 20,
        note: `${before.rssMb} to ${after.rssMb} MB`,
      },
      ...(bench.redis
        ? [
            {
              name: 'Redis keys, more with them',
              value: after.keys - before.keys,
              unit: '',
              atMost: 5,
              note: `${before.keys} to ${after.keys}`,
            },
            {
              name: 'Redis memory, more with them',
              value: after.redisMb - before.redisMb,
              unit: 'MB',
              atMost: 1,
            },
            { name: 'Redis memory, peak while released', value: redisPeakMb!, unit: 'MB' },
          ]
        : []),
      {
        name: 'released and delivered in',
        value: releaseMs / 1_000,
        unit: 's',
        atMost: count / atLeastPerSecond,
        note: `${Math.round((count * 1_000) / releaseMs)}/s`,
      },
      { name: 'worker RSS, peak while released', value: Math.max(...memory.stop()), unit: 'MB' },
      ...othersFigures(alone, meanwhile),
    ];
  },
};

async function look(bench: Bench, workerPid: number) {
  const rssMb = await settledRssMb(workerPid);
  return { rssMb, keys: (await bench.redis?.keys()) ?? 0, redisMb: (await bench.redis?.usedMb()) ?? 0 };
}
