import { registerAccount, registerWebhook } from '../../../support/client.js';
import { target } from '../load.js';
import { settledRssMb, watchMemory } from './memory.js';
import { until, type Scenario } from './scenario.js';
import { createShipments, onTheWay, recordStates } from './shipments.js';

const missed = 1_000_000;
const atMostRows = 20_000;
const atLeastPerSecond = 2_000;

export const parked: Scenario = {
  name: 'parked',
  promise: '1,000,000 missed by a paused webhook: 20,000 rows at most, and all arrive when it is resumed',
  run: async (bench) => {
    const { url, workerPid } = await bench.deploy('split');
    const account = await registerAccount({ url });
    const shipments = bench.scaled(missed / onTheWay.length);
    const count = shipments * onTheWay.length;
    const trackingIds = await createShipments(bench, target(url, account), shipments);
    const { webhookId } = await registerWebhook(account, new URL('/parked/', bench.receiver.url).href, {
      status: 'PAUSED',
    });
    const startedAt = performance.now();
    await recordStates(bench, url, trackingIds, onTheWay);
    const recordedMs = performance.now() - startedAt;
    const [row] = await bench.sql<{ n: number }>(
      'select count(*)::int as n from outbox where webhook_id = $1',
      [webhookId],
    );
    const rssBeforeMb = await settledRssMb(workerPid);
    const memory = watchMemory(workerPid);
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
    let saidAt = performance.now();
    const releaseMs = await until('all missed are delivered', 1_200_000, async () => {
      const { received } = await bench.receiver.count('parked');
      if (performance.now() - saidAt > 20_000) {
        saidAt = performance.now();
        bench.say(`  ${received} of ${count}`);
      }
      return received >= count;
    });
    await until('it is no longer parked', 60_000, async () => {
      const open = await bench.sql(`select 1 from replays where kind = 'PARKED' and status = 'RUNNING'`);
      return open.length === 0;
    });
    return [
      {
        name: 'missed',
        value: count,
        unit: '',
        note: `${Math.round((count * 1_000) / recordedMs)}/s recorded`,
      },
      { name: 'rows of the outbox', value: row!.n, unit: '', atMost: atMostRows },
      {
        name: 'resumed and delivered in',
        value: releaseMs / 1_000,
        unit: 's',
        atMost: count / atLeastPerSecond,
        note: `${Math.round((count * 1_000) / releaseMs)}/s`,
      },
      {
        name: 'worker RSS, peak while resumed',
        value: Math.max(...memory.stop()),
        unit: 'MB',
        note: `${rssBeforeMb} MB before`,
      },
    ];
  },
};
