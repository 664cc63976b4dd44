import { setTimeout as sleep } from 'node:timers/promises';
import { operator, sampleOrder, type Account, type ApiResponse } from '../../../support/client.js';
import type { AcceptedEvent } from '../model.js';

const onTheWay = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];

export interface Load {
  /** Everything that got 2xx so far. */
  accepted: AcceptedEvent[];
  /** A status of 0 is no response. */
  responses: {
    kind: 'order' | 'event';
    isFirst: boolean;
    at: number;
    httpStatus: number;
    durationMs: number;
    hasRetryAfter: boolean;
  }[];
  /** Resolves with what was never accepted, soon after that time at the latest. */
  stop(giveUpAfterMs?: number): Promise<string[]>;
}

interface Shipment {
  shipper: number;
  trackingId: string;
  states: number;
  readyAt: number;
}

export const unknownShipment = 'an accepted shipment is not known any more';

const now = () => performance.timeOrigin + performance.now();
const betweenStatesMs = 1_000;
const eventsOfShipment = 1 + onTheWay.length;
const lastTryAfterMs = 60_000;
/** Beyond this many pending requests the rest waits: a storm of requests would only measure itself. */
const maxPending = 500;
/** Doubles, so that a backlog of refused requests does not become a storm. */
const againAfterMs = (tries: number) => Math.min(10_000, 250 * 2 ** tries);

/**
 * New orders, and the next states of existing shipments, independent of the responses. A refused request is repeated
 * with the same idempotency key or event id until it is accepted; a shipment that is not created yet (409) queues
 * again.
 */
export function startLoad(url: string, accounts: Account[], eventsPerSecond: number, seed: number): Load {
  const load: Load = { accepted: [], responses: [], stop };
  const waiting: Shipment[] = [];
  const open = new Set<Promise<void>>();
  const startedAt = now();
  let begun = 0;
  let pending = 0;
  let stopped = false;
  let giveUpAt = Infinity;
  const neverAccepted: string[] = [];
  const running = run();
  return load;

  async function run(): Promise<void> {
    while (!stopped) {
      const owed = Math.floor(((now() - startedAt) / 1_000) * eventsPerSecond);
      for (; begun < owed && pending < maxPending; begun += 1) {
        const one = next()
          .catch((error: Error) => void neverAccepted.push(error.message))
          .finally(() => open.delete(one));
        open.add(one);
      }
      await sleep(5);
    }
  }

  /** The next state of the shipment that has waited longest; every fifth time, or if none is ready, a new order. */
  function next(): Promise<void> {
    const ready = begun % eventsOfShipment > 0 && waiting[0] && waiting[0].readyAt <= now();
    return ready ? record(waiting.shift()!) : order(begun);
  }

  async function order(number: number): Promise<void> {
    const shipper = number % accounts.length;
    const key = `chaos-${seed}-${number}`;
    const response = await untilStatus('order', [201], () =>
      accounts[shipper]!.call('/v1/shipments', {
        body: { ...sampleOrder(), shipperTrackingId: key },
        headers: { 'idempotency-key': key },
      }),
    );
    accept({ shipper, trackingId: response.data.trackingId as string, states: 0, readyAt: 0 }, 'CREATED');
  }

  async function record(shipment: Shipment): Promise<void> {
    const state = onTheWay[shipment.states]!;
    const eventId = `chaos-${shipment.trackingId}-${state}`;
    const { httpStatus } = await untilStatus('event', [202, 404, 409], () =>
      operator({ url }, `/shipments/${shipment.trackingId}/events`, { body: { state, eventId } }),
    );
    if (httpStatus === 404) throw new Error(unknownShipment);
    if (httpStatus === 409) return void waiting.push({ ...shipment, readyAt: now() + betweenStatesMs });
    accept({ ...shipment, states: shipment.states + 1 }, state);
  }

  function accept(shipment: Shipment, state: string): void {
    const { trackingId, shipper } = shipment;
    load.accepted.push({ trackingId, shipper, state, at: now() });
    if (shipment.states < onTheWay.length) waiting.push({ ...shipment, readyAt: now() + betweenStatesMs });
  }

  async function untilStatus(
    kind: 'order' | 'event',
    expected: number[],
    ask: () => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    for (let tries = 0; ; tries += 1) {
      const at = now();
      pending += 1;
      const response = await ask().catch(() => null);
      pending -= 1;
      const httpStatus = response?.httpStatus ?? 0;
      const hasRetryAfter = response?.headers.has('retry-after') ?? false;
      load.responses.push({
        kind,
        isFirst: tries === 0,
        at,
        httpStatus,
        durationMs: now() - at,
        hasRetryAfter,
      });
      if (response && expected.includes(httpStatus)) return response;
      if (now() > giveUpAt)
        throw new Error(
          `${kind} never accepted: ${httpStatus} ${response?.body.error?.message ?? 'no response'}`,
        );
      await sleep(againAfterMs(tries));
    }
  }

  async function stop(giveUpAfterMs = lastTryAfterMs): Promise<string[]> {
    stopped = true;
    giveUpAt = now() + giveUpAfterMs;
    await running;
    while (open.size > 0) await Promise.all(open);
    return neverAccepted;
  }
}
