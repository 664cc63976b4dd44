import { noRoom, type Room } from '../outbox/hand-over.js';
import type { Lane, Lanes } from './lanes.js';

export interface Reservations {
  reserve(shipperIds: string[]): Room;
  release(room: Room): void;
  /** Claims promised in all. */
  total(): number;
  readonly none: Room;
}

export interface ReservationsOptions {
  lanes: Lanes;
  /** Claims this process may still hold. */
  spare(): number;
  /** Claims it may hold beyond that for shippers of whom it holds none: nobody's backlog keeps others out. */
  forNewcomers: number;
}

/** Of a shipper nothing is known of. */
const webhooksGuessed = 5;

/**
 * The room that statements on their way may fill. An event owes one delivery to a webhook at most, so no more than the
 * number of a shipper's events is promised to each of its lanes.
 */
export function createReservations({ lanes, spare, forNewcomers }: ReservationsOptions): Reservations {
  const promised = new Map<Room, Lane[]>();
  let total = 0;

  return {
    none: noRoom,
    total: () => total,
    reserve: (shipperIds) => {
      const events = new Map<string, number>();
      for (const shipperId of shipperIds) events.set(shipperId, (events.get(shipperId) ?? 0) + 1);
      const room: Room = { byWebhook: {}, ofOthers: lanes.firstRoom, total: 0 };
      const taken: Lane[] = [];
      let wanted = 0;
      let wantedByNewcomers = 0;
      for (const [shipperId, count] of events) {
        const known = lanes.ofShipper(shipperId);
        const mostOwed = count * Math.max(known.length, webhooksGuessed);
        wanted += mostOwed;
        if (!lanes.holdsSome(shipperId)) wantedByNewcomers += mostOwed;
        for (const lane of known) {
          // A backlog in PostgreSQL was there before; what was left there just now may be overtaken.
          const places = lane.mayHaveMore && lane.left === 0 ? 0 : Math.min(count, lanes.roomIn(lane));
          room.byWebhook[lane.webhookId] = places;
          lane.reserved += places;
          taken.push(lane);
        }
      }
      // Half of what is free at most: something is left for the next, whoever he is.
      const free = spare() - total;
      room.total = Math.max(
        0,
        Math.min(wanted, Math.ceil(free / 2)),
        Math.min(wantedByNewcomers, free + forNewcomers),
      );
      total += room.total;
      promised.set(room, taken);
      return room;
    },
    release: (room) => {
      const taken = promised.get(room);
      if (!taken) return;
      promised.delete(room);
      total -= room.total;
      for (const lane of taken) lane.reserved -= room.byWebhook[lane.webhookId] ?? 0;
    },
  };
}
