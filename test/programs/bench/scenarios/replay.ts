import { setTimeout as sleep } from 'node:timers/promises';
import { operator, registerAccount, registerWebhook } from '../../../support/client.js';
import { target } from '../load.js';
import { settledRssMb, watchMemory } from './memory.js';
import { othersFigures, registerOther, watchOther } from './others.js';
import { until, type Bench, type Scenario } from './scenario.js';
import { createShipments, onTheWay, recordStates } from './shipments.js';

const missed = 100_000;
const atLeastPerSecond = 1_500;

interface Replay {
  replayId: string;
  total: number | null;
  done: number;
  status: string;
}

export const replay: Scenario = {
  name: 'replay',
  promise: 'a webhook registered afterwards catches up on 100,000 events; others do not notice',
  run: async (bench) => {
    const { url, workerPid } = await bench.deploy('split');
    const account = await registerAccount({ url });
    const other = await registerOther(bench, url);
    const from = Date.now();
    const eventsEach = 1 + onTheWay.length;
    const shipments = bench.scaled(missed / eventsEach);
    const trackingIds = await createShipments(bench, target(url, account), shipments);
    await recordStates(bench, url, trackingIds, onTheWay);
    const count = shipments * eventsEach;
    const { webhookId } = await registerWebhook(account, new URL('/missed/', bench.receiver.url).href);
    const alone = await watchOther(bench, other, () => sleep(10_000));
    const rssBeforeMb = await settledRssMb(workerPid);

    const memory = watchMemory(workerPid);
    let queued = 0;
    let doneS = 0;
    const meanwhile = await watchOther(bench, other, async () => {
      const startedAt = performance.now();
      const response = await account.call(`/v1/webhooks/${webhookId}/replay`, {
        body: { from, to: Date.now() },
      });
      queued = await untilDone(bench, url, response.data.replayId as string);
      await until(
        'all are delivered',
        60_000,
        async () => (await bench.receiver.count('missed')).received >= count,
      );
      doneS = (performance.now() - startedAt) / 1_000;
    });
    if (queued !== count) throw new Error(`${queued} were queued, not ${count}`);
    return [
      { name: 'replayed', value: queued, unit: '' },
      {
        name: 'delivered in',
        value: doneS,
        unit: 's',
        atMost: count / atLeastPerSecond,
        note: `${Math.round(count / doneS)}/s`,
      },
      ...othersFigures(alone, meanwhile),
      {
        name: 'worker RSS, peak',
        value: Math.max(...memory.stop()),
        unit: 'MB',
        note: `${rssBeforeMb} MB before`,
      },
    ];
  },
};

/** Resolves with the number sent. */
async function untilDone(bench: Bench, url: string, replayId: string): Promise<number> {
  let saidAt = 0;
  let sent = 0;
  await until('the replay is over', 900_000, async () => {
    await sleep(900);
    const { replays } = (await operator({ url }, '/status')).data as { replays: Replay[] };
    const { done, total, status } = replays.find((one) => one.replayId === replayId)!;
    if (Date.now() - saidAt > 20_000) {
      saidAt = Date.now();
      bench.say(`  ${done} of ${total ?? 'many'}, ${status}`);
    }
    sent = done;
    return status === 'DONE';
  });
  return sent;
}
