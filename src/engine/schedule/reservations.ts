import type { Room } from '../outbox/types.js';
import type { Lane, Lanes } from './lanes.js';
import type { Places } from './places.js';

/** Assumed of a shipper with fewer lanes. */
export const assumedWebhooks = 5;

/** Room in lanes, by the statement under way that records and has reserved it. */
export class Reservations {
  readonly #lanesOf = new Map<Room, { lane: Lane; inLane: number }[]>();

  constructor(
    readonly lanes: Lanes,
    readonly places: Places,
  ) {}

  get size(): number {
    return this.#lanesOf.size;
  }

  /** `isTooFull`: backlogs wait for room. */
  make(shipperIds: string[], isTooFull: boolean, nowMs: number): Room {
    const { places } = this;
    const events = new Map<string, number>();
    for (const shipperId of shipperIds) events.set(shipperId, (events.get(shipperId) ?? 0) + 1);
    const budget = places.budget(nowMs);
    const { free, freeUnknown, forRecords } = budget;
    const ofOthers = freeUnknown + places.concurrency > 0 ? this.lanes.firstLimit : 0;
    const reservation: Room = { byWebhook: {}, ofOthers, total: 0 };
    const reserved: { lane: Lane; inLane: number }[] = [];
    let [wanted, wantedByLight] = [0, 0];
    for (const [shipperId, count] of events) {
      const shipper = this.lanes.shipper(shipperId);
      const owed = count * Math.max(shipper?.lanes.size ?? 0, assumedWebhooks);
      wanted += owed;
      if (places.hasFew(shipper)) wantedByLight += owed;
      for (const lane of shipper?.lanes ?? []) {
        const inLane = Math.min(count, places.forRecordsIn(lane, nowMs, budget)); // an event owes a webhook at most one delivery
        reservation.byWebhook[lane.webhookId] = inLane;
        reserved.push({ lane, inLane });
      }
    }
    const half = Math.ceil((isTooFull ? free - forRecords : free) / 2); // leaves room for the next statement
    reservation.total = Math.max(
      0,
      Math.min(wanted, half),
      Math.min(wantedByLight, free + places.concurrency),
    );
    places.promised += reservation.total;
    for (const { lane, inLane } of reserved) lane.reserve(inLane);
    this.#lanesOf.set(reservation, reserved);
    return reservation;
  }

  /** Returns the lanes that have changed. */
  release(reservation: Room): Lane[] {
    const reserved = this.#lanesOf.get(reservation);
    if (!reserved) return [];
    this.#lanesOf.delete(reservation);
    this.places.promised -= reservation.total;
    for (const { lane, inLane } of reserved) lane.reserve(-inLane);
    return reserved.map(({ lane }) => lane);
  }
}
