import { noRoom, type Room } from '../../outbox/hand-over.js';
import { goesFirst } from './backlog.js';
import type { Budget } from './budget.js';
import type { Lane, Lanes } from './lanes.js';

export interface Reservations {
  reserve(shipperIds: string[]): Room;
  release(room: Room): void;
  /** Claims promised in all. */
  total(): number;
  /** Some statement may still bring what it reserved room for. */
  areOpen(): boolean;
  readonly none: Room;
}

export interface ReservationsOptions {
  lanes: Lanes;
  budget: Pick<Budget, 'forNew'>;
}

/** Webhooks assumed of a shipper of whom nothing is known. */
const webhooksGuessed = 5;

/**
 * The room that statements on their way may fill. An event owes one delivery to a webhook at most, so no more than the
 * number of a shipper's events is promised to each of its lanes.
 */
export function createReservations({ lanes, budget }: ReservationsOptions): Reservations {
  const promised = new Map<Room, Lane[]>();
  let total = 0;

  return {
    none: noRoom,
    total: () => total,
    areOpen: () => promised.size > 0,
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
          const most = goesFirst(lane.backlog) ? 0 : Math.min(count, lanes.roomIn(lane));
          room.byWebhook[lane.webhookId] = most;
          lane.reserved += most;
          taken.push(lane);
        }
      }
      room.total = budget.forNew(wanted, wantedByNewcomers);
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
