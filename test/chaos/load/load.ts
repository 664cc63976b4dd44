import { setTimeout as sleep } from 'node:timers/promises';
import { operator, sampleOrder, type Account, type Answer } from '../../client.js';
import type { AcceptedEvent } from '../model.js';

/** The states after CREATED, in order. */
const onTheWay = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];

export interface Load {
  /** Everything answered with 2xx so far. */
  accepted: AcceptedEvent[];
  /** Every single request: its answer (0: no answer) and how long that took. */
  answers: {
    kind: 'order' | 'event';
    isFirst: boolean;
    at: number;
    httpStatus: number;
    durationMs: number;
    hasRetryAfter: boolean;
  }[];
  /** Begins nothing new; resolves with what was never accepted, soon after that time at most. */
  stop(giveUpAfterMs?: number): Promise<string[]>;
}

interface Shipment {
  shipper: number;
  trackingId: string;
  /** States recorded after CREATED. */
  states: number;
  readyAt: number;
}

/** What was accepted is not there any more. */
export const unknownShipment = 'an accepted shipment is not known any more';

const now = () => performance.timeOrigin + performance.now();
const betweenStatesMs = 1_000;
/** The first of a shipment's events, and those that come after it. */
const eventsOfShipment = 1 + onTheWay.length;
const lastTryAfterMs = 60_000;
/** Where more is unanswered than this, the rest waits: a storm of requests would only measure itself. */
const maxUnanswered = 500;
/** Doubles, so that what could not be accepted for a while is no storm afterwards. */
const againAfterMs = (tries: number) => Math.min(10_000, 250 * 2 ** tries);

/**
 * A steady load of events, whatever the answers: new orders, and the next states of those that are on their way. What
 * is not accepted is sent again with the same idempotency key or event id until it is; a shipment that is not created
 * yet (409) waits in line again.
 */
export function startLoad(url: string, accounts: Account[], eventsPerSecond: number, seed: number): Load {
  const load: Load = { accepted: [], answers: [], stop };
  const waiting: Shipment[] = [];
  const open = new Set<Promise<void>>();
  const startedAt = now();
  let begun = 0;
  let unanswered = 0;
  let stopped = false;
  let giveUpAt = Infinity;
  const neverAccepted: string[] = [];
  const running = run();
  return load;

  async function run(): Promise<void> {
    while (!stopped) {
      const owed = Math.floor(((now() - startedAt) / 1_000) * eventsPerSecond);
      for (; begun < owed && unanswered < maxUnanswered; begun += 1) {
        const one = next()
          .catch((error: Error) => void neverAccepted.push(error.message))
          .finally(() => open.delete(one));
        open.add(one);
      }
      await sleep(5);
    }
  }

  /** The next state of the shipment that has waited longest; each fifth time, and where none is ready, a new order. */
  function next(): Promise<void> {
    const ready = begun % eventsOfShipment > 0 && waiting[0] && waiting[0].readyAt <= now();
    return ready ? record(waiting.shift()!) : order(begun);
  }

  async function order(number: number): Promise<void> {
    const shipper = number % accounts.length;
    const key = `chaos-${seed}-${number}`;
    const answer = await untilAnswered('order', [201], () =>
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
    const { httpStatus } = await untilAnswered('event', [202, 404, 409], () =>
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

  async function untilAnswered(
    kind: 'order' | 'event',
    expected: number[],
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    for (let tries = 0; ; tries += 1) {
      const at = now();
      unanswered += 1;
      const answer = await ask().catch(() => null);
      unanswered -= 1;
      const httpStatus = answer?.httpStatus ?? 0;
      const hasRetryAfter = answer?.headers.has('retry-after') ?? false;
      load.answers.push({
        kind,
        isFirst: tries === 0,
        at,
        httpStatus,
        durationMs: now() - at,
        hasRetryAfter,
      });
      if (answer && expected.includes(httpStatus)) return answer;
      if (now() > giveUpAt)
        throw new Error(
          `${kind} never accepted: ${httpStatus} ${answer?.body.error?.message ?? 'no answer'}`,
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
