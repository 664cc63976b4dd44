import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '../platform/batch.js';
import { createGate, refusalOf, type Refusal } from '../platform/limits/gate.js';
import { createHeldTime } from '../platform/limits/held.js';

export interface Admission {
  /**
   * The resolved function ends the place. Shippers are served in rotation. A large order weighs more than 1. Rejects
   * with ApiError if too many wait, or with UNAVAILABLE after `turnAway`. Tells `onWait` how much of the wait is spent
   * behind the shipper's own orders.
   */
  enter(shipperId: string, weight: number, onWait?: OnWait): Promise<() => void>;
  /** Refuses orders that have waited for long: none can be stored at present. */
  turnAway(): void;
}

export type OnWait = (heldMs: () => number) => void;

export interface AdmissionOptions {
  /** The total weight of concurrent orders; the last one may exceed it. */
  atOnce: number;
  /** There is room for what one more order of this shipper will owe, beside what those under way will. */
  hasRoom(shipperId: string, orders: { ofShipper: number; all: number }): boolean;
}

const maxWaiting = 5_000;
const recheckMs = 4;
/** A shipper that has this part of all places waits for its own orders more than for those of others. */
const ownPart = 0.5;

/**
 * Owed deliveries come before new orders: an order waits, and is not refused for it, until what it will owe has room.
 */
export function createAdmission({ atOnce, hasRoom }: AdmissionOptions): Admission {
  const mayStart = (shipperId: string): boolean =>
    hasRoom(shipperId, { ofShipper: gate.working(shipperId), all: gate.working() });
  const gate = createGate({ concurrency: atOnce, mayStart, maxWaiting });
  const held = createHeldTime((shipperId: string) => gate.working(shipperId) >= ownPart * atOnce);
  let checking = false;

  const recheckWhileAnyWaits = async () => {
    if (checking) return;
    checking = true;
    for (; gate.waiting() > 0; gate.startReady()) await sleep(recheckMs);
    checking = false;
  };

  const placed = (shipperId: string, leave: () => void) => {
    held.note(shipperId);
    return () => {
      leave();
      held.note(shipperId);
    };
  };

  const slotFor = (shipperId: string, weight: number, onWait?: OnWait) =>
    new Promise<() => void>((resolve, reject) => {
      const clock = held.start(shipperId);
      onWait?.(clock.heldMs);
      const start = (leave: () => void) => {
        clock.stop();
        resolve(placed(shipperId, leave));
      };
      const refuse = (why: Refusal) => {
        clock.stop();
        reject(refusalOf(why));
      };
      gate.ask(shipperId, { start, refuse, weight });
      void recheckWhileAnyWaits();
    });

  return {
    enter: (shipperId, weight, onWait) => {
      gate.startReady(); // orders that wait already go first
      const leave = gate.enter(shipperId, weight);
      return leave ? Promise.resolve(placed(shipperId, leave)) : slotFor(shipperId, weight, onWait);
    },
    turnAway: () => gate.turnAway((sinceMs) => performance.now() - sinceMs >= patienceMs),
  };
}
