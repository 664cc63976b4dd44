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
  /** Due deliveries that wait for this process; 0 if none is this shipper's. */
  pressure(shipperId: string): number;
  /** At this pressure, no order of the shipper is accepted until it falls. */
  maxPressure: number;
}

const maxWaiting = 5_000;
const recheckMs = 4;
/** A shipper that has this part of all places waits for its own orders more than for those of others. */
const ownPart = 0.5;

/**
 * Owed deliveries come before new orders: under pressure, the orders of those shippers who cause it wait, but are not
 * refused for it.
 */
export function createAdmission({ atOnce, pressure, maxPressure }: AdmissionOptions): Admission {
  const mayStart = (shipperId: string) => pressure(shipperId) < maxPressure;
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
