import { setTimeout as sleep } from 'node:timers/promises';
import { operator, sampleOrder, type Account, type Answer } from '../client.js';
import type { AcceptedEvent } from './model.js';

/** The states after CREATED, in order. */
export const onTheWay = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];

export interface Load {
  /** Everything answered with 2xx so far. */
  accepted: AcceptedEvent[];
  /** Every single request: its answer (0: no answer) and how long that took. */
  answers: { kind: 'order' | 'event'; at: number; httpStatus: number; durationMs: number }[];
  /** Begins nothing new; resolves when everything that was begun is accepted. */
  stop(): Promise<void>;
}

interface Shipment {
  shipper: number;
  trackingId: string;
  /** States recorded after CREATED. */
  states: number;
  readyAt: number;
}

const now = () => performance.timeOrigin + performance.now();
const betweenStatesMs = 1_000;
/** A state of a shipment that is not created yet is answered with 409. */
const againAfterMs = (httpStatus: number) => (httpStatus === 409 ? 1_000 : 250);

/**
 * A steady load of events, whatever the answers: new orders, and the next states of those that are on their way. What
 * is not accepted is sent again with the same idempotency key or event id until it is.
 */
export function startLoad(url: string, accounts: Account[], eventsPerSecond: number, seed: number): Load {
  const load: Load = { accepted: [], answers: [], stop };
  const waiting: Shipment[] = [];
  const open = new Set<Promise<void>>();
  const startedAt = now();
  let begun = 0;
  let stopped = false;
  const running = run();
  return load;

  async function run(): Promise<void> {
    while (!stopped) {
      const owed = Math.floor(((now() - startedAt) / 1_000) * eventsPerSecond);
      for (; begun < owed; begun += 1) {
        const one = next().finally(() => open.delete(one));
        open.add(one);
      }
      await sleep(5);
    }
  }

  /** The next state of the shipment that has waited longest, else a new order. */
  function next(): Promise<void> {
    return waiting[0] && waiting[0].readyAt <= now() ? record(waiting.shift()!) : order(begun);
  }

  async function order(number: number): Promise<void> {
    const shipper = number % accounts.length;
    const key = `chaos-${seed}-${number}`;
    const answer = await untilAccepted('order', 201, () =>
      accounts[shipper]!.call('/v1/shipments', {
        body: { ...sampleOrder(), shipperTrackingId: key },
        headers: { 'idempotency-key': key },
      }),
    );
    accept({ shipper, trackingId: answer.data.trackingId as string, states: 0, readyAt: 0 }, 'CREATED');
  }

  async function record(shipment: Shipment): Promise<void> {
    const state = onTheWay[shipment.states]!;
    const eventId = `chaos-${shipment.trackingId}-${state}`;
    await untilAccepted('event', 202, () =>
      operator({ url }, `/shipments/${shipment.trackingId}/events`, { body: { state, eventId } }),
    );
    accept({ ...shipment, states: shipment.states + 1 }, state);
  }

  function accept(shipment: Shipment, state: string): void {
    const { trackingId, shipper } = shipment;
    load.accepted.push({ trackingId, shipper, state, at: now() });
    if (shipment.states < onTheWay.length) waiting.push({ ...shipment, readyAt: now() + betweenStatesMs });
  }

  async function untilAccepted(
    kind: 'order' | 'event',
    expected: number,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    for (;;) {
      const at = now();
      const answer = await ask().catch(() => null);
      const httpStatus = answer?.httpStatus ?? 0;
      load.answers.push({ kind, at, httpStatus, durationMs: now() - at });
      if (answer && httpStatus === expected) return answer;
      await sleep(againAfterMs(httpStatus));
    }
  }

  async function stop(): Promise<void> {
    stopped = true;
    await running;
    while (open.size > 0) await Promise.all(open);
  }
}
