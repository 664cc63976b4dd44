import { setTimeout as sleep } from 'node:timers/promises';
import { registerAccount, registerWebhook } from '../../../support/client.js';
import { parentOf, postgresCpuUs } from '../cpu.js';
import { target } from '../load.js';
import { way } from '../phases/events.js';
import { fillLog } from './log-fill.js';
import { until, type Bench, type Figure, type Scenario } from './scenario.js';
import { createShipments, onTheWay, recordStates } from './shipments.js';

export const webhooks = 5;
export const shipmentsARound = 3_000;
const rounds = 3;
const held = 100_000;
const logged = 1_000_000;
/** The ratio to an otherwise empty system. */
const atMost = 1.2;
const afterwardsMs = 1_500;
/** The time with nothing to deliver. */
const idleMs = 10_000;

/** The µs of PostgreSQL, at each state of `way`: medians of the rounds. */
type Costs = number[];
interface Measure {
  costs(rounds: number): Promise<Costs>;
  /** The % of a core, with nothing to deliver: the sweeper's walk over the outbox. */
  idle(): Promise<number>;
}

export const steady: Scenario = {
  name: 'steady',
  promise:
    "PostgreSQL's CPU a delivery is the same at a shipment's 2nd, 3rd and 6th state, with 100,000 held, and with 1,000,000 in the log (1.2 times)",
  run: async (bench) => {
    const { url } = await bench.deploy('all', { PARKED_AFTER: '10000000' });
    const { costs, idle } = await createMeasure(bench, url);
    await costs(1);
    const alone = await costs(rounds);
    await hold(bench, url);
    const idleBesideHeld = await idle();
    const besideHeld = await costs(rounds);
    const account = await registerAccount({ url });
    const { webhookId } = await registerWebhook(account, bench.receiver.url, { status: 'PAUSED' });
    const owner = { shipperId: account.shipperId, webhookIds: [webhookId], kind: 'usual' as const };
    await fillLog(bench, [owner], bench.scaled(logged * 5)); // the usual ones have a fifth
    await bench.sql('vacuum (analyze)'); // otherwise autovacuum runs meanwhile for the filled rows
    const besideLog = await costs(rounds);
    return [
      ...way.flatMap(({ place }, index) =>
        place === undefined
          ? []
          : {
              name: `at the ${place} state`,
              value: alone[index]!,
              unit: 'µs',
              ...(index > 0 && { atMost: alone[0]! * atMost }),
            },
      ),
      compared('with 100,000 held', alone, besideHeld),
      { name: 'with them, and nothing to deliver', value: idleBesideHeld, unit: '% of a core' },
      compared('with 1,000,000 in the log, too', alone, besideLog),
    ];
  },
};

const sum = (costs: Costs) => costs.reduce((total, cost) => total + cost, 0);

const compared = (name: string, alone: Costs, beside: Costs): Figure => ({
  name: `${name}: times as much`,
  value: sum(beside) / sum(alone),
  unit: '',
  atMost,
  note: `${way.map((_, index) => `${alone[index]!.toFixed(0)} to ${beside[index]!.toFixed(0)}`).join(', ')} µs`,
});

/** Takes new shipments of a shipper with five webhooks through their states, `rounds` times. */
export async function createMeasure(bench: Bench, url: string): Promise<Measure> {
  const account = await registerAccount({ url });
  for (let n = 0; n < webhooks; n += 1)
    await registerWebhook(account, new URL(`/steady/${n}`, bench.receiver.url).href);
  const [session] = await bench.sql<{ pid: number }>('select pg_backend_pid() as pid');
  const postmasterPid = parentOf(session!.pid);
  const cpuUs = () => postgresCpuUs(postmasterPid, []);
  const shipments = bench.scaled(shipmentsARound);
  const untilAllCame = async (statesEach: number) => {
    await until('all have arrived', 120_000, async () => {
      const { received } = await bench.receiver.count('steady');
      return received >= statesEach * shipments * webhooks;
    });
    await sleep(afterwardsMs); // the last ones are recorded, and no work is left
  };
  const idle = async () => {
    await sleep(afterwardsMs);
    const beforeUs = cpuUs();
    await sleep(idleMs);
    return (cpuUs() - beforeUs) / (idleMs * 10);
  };
  const costs = async (rounds: number) => {
    const byState = way.map((): number[] => []);
    for (let round = 0; round < rounds; round += 1) {
      await bench.receiver.reset();
      const trackingIds = await createShipments(bench, target(url, account), shipments);
      await untilAllCame(1);
      for (const [index, { state }] of way.entries()) {
        const beforeUs = cpuUs();
        await recordStates(bench, url, trackingIds, [state]);
        await untilAllCame(index + 2);
        byState[index]!.push((cpuUs() - beforeUs) / (shipments * webhooks));
      }
    }
    return byState.map((ofState) => ofState.sort((a, b) => a - b)[Math.floor(ofState.length / 2)]!);
  };
  return { costs, idle };
}

/** A paused webhook of another shipper is owed 100,000 deliveries. */
async function hold(bench: Bench, url: string): Promise<void> {
  const account = await registerAccount({ url });
  const shipments = bench.scaled(held / onTheWay.length);
  const trackingIds = await createShipments(bench, target(url, account), shipments);
  await registerWebhook(account, new URL('/held/', bench.receiver.url).href, { status: 'PAUSED' });
  await recordStates(bench, url, trackingIds, onTheWay);
}
