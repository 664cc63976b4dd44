import { operator } from '../../../support/client.js';
import { placeOrders, type Target } from '../load.js';
import { until, type Bench } from './scenario.js';

const connections = 64;
const eventsPerRequest = 1_000;
const requestsAtOnce = 2;

export const onTheWay = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];

/** Waits until all are created; returns their tracking ids. */
export async function createShipments(bench: Bench, target: Target, count: number): Promise<string[]> {
  const accepted = await placeOrders(target, count, connections);
  await until('all shipments are created', 120_000, async () => {
    const [row] = await bench.sql('select 1 from orders_to_create limit 1');
    return row === undefined;
  });
  return [...accepted.keys()];
}

export async function recordStates(
  bench: Bench,
  url: string,
  trackingIds: string[],
  states: string[],
): Promise<void> {
  for (const state of states) {
    const events = trackingIds.map((trackingId) => ({ trackingId, state }));
    const send = async () => {
      while (events.length > 0) await recordSome(url, events.splice(0, eventsPerRequest));
    };
    await Promise.all(Array.from({ length: requestsAtOnce }, send));
    bench.say(`  ${trackingIds.length} events ${state} recorded`);
  }
}

async function recordSome(url: string, events: object[]): Promise<void> {
  const response = await operator({ url }, '/events', { body: { events } });
  const results = (response.data?.results ?? []) as { eventId?: string }[];
  if (results.length !== events.length || results.some(({ eventId }) => eventId === undefined))
    throw new Error(`events not recorded: ${JSON.stringify(response.body).slice(0, 300)}`);
}
