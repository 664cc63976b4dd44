import { registerAccount, registerWebhook } from '../../../support/client.js';
import { target } from '../load.js';
import { watchMemory, watchPeak } from './memory.js';
import { until, type Scenario } from './scenario.js';
import { createShipments, onTheWay, recordStates } from './shipments.js';

const events = 100_000;
const shippers = 10;

export const burst: Scenario = {
  name: 'burst',
  promise: 'R12: a burst of 100,000 events is drained; worker RSS at most 512 MB, Redis at most 150 MB',
  run: async (bench) => {
    const { url, workerPid } = await bench.deploy('split');
    const perShipper = bench.scaled(events / shippers / onTheWay.length);
    const count = perShipper * shippers * onTheWay.length;
    const trackingIds: string[] = [];
    for (let n = 0; n < shippers; n += 1) {
      const account = await registerAccount({ url });
      trackingIds.push(...(await createShipments(bench, target(url, account), perShipper)));
      await registerWebhook(account, new URL(`/ok/${n}`, bench.receiver.url).href);
    }
    bench.say(`  ${trackingIds.length} shipments are there; the burst begins`);
    await bench.receiver.reset();
    const memory = watchMemory(workerPid);
    const redisPeak = bench.redis && watchPeak(bench.redis.usedMb);
    const startedAt = performance.now();
    await recordStates(bench, url, trackingIds, onTheWay);
    const recordedS = (performance.now() - startedAt) / 1_000;
    await until(
      'all are delivered',
      300_000,
      async () => (await bench.receiver.count('ok')).received >= count,
    );
    const drainedS = (performance.now() - startedAt) / 1_000;
    const redisPeakMb = await redisPeak?.stop();
    return [
      { name: 'events recorded in', value: recordedS, unit: 's', note: `${Math.round(count / recordedS)}/s` },
      { name: 'all delivered in', value: drainedS, unit: 's', note: `${Math.round(count / drainedS)}/s` },
      { name: 'worker RSS, peak', value: Math.max(...memory.stop()), unit: 'MB', atMost: 512 },
      ...(redisPeakMb === undefined
        ? []
        : [{ name: 'Redis memory, peak', value: redisPeakMb, unit: 'MB', atMost: 150 }]),
    ];
  },
};
