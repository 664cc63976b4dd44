import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '../platform/batch.js';
import { createGate, refusalOf, type Refusal } from '../platform/limits/gate.js';

export interface Admission {
  /**
   * The resolved function ends the place. Shippers are served in rotation. A large order weighs more than 1. Rejects
   * with ApiError if too many wait, or with UNAVAILABLE after `turnAway`.
   */
  enter(shipperId: string, weight: number): Promise<() => void>;
  /** Refuses orders that have waited for long: none can be stored at present. */
  turnAway(): void;
}

export interface AdmissionOptions {
  /** The total weight of concurrent orders; the last one may exceed it. */
  atOnce: number;
  /** Due deliveries that wait for this process. */
  pressure(): number;
  /** At this pressure, no order is accepted until it falls. */
  maxPressure: number;
}

const maxWaiting = 5_000;
const recheckMs = 4;

/** Owed deliveries come before new orders: under pressure orders wait, but are not refused for it. */
export function createAdmission({ atOnce, pressure, maxPressure }: AdmissionOptions): Admission {
  const isOpen = () => pressure() < maxPressure;
  const gate = createGate({ concurrency: atOnce, isOpen, maxWaiting });
  let checking = false;

  const recheckWhileAnyWaits = async () => {
    if (checking) return;
    checking = true;
    for (; gate.waiting() > 0; gate.startReady()) await sleep(recheckMs);
    checking = false;
  };

  const slotFor = (shipperId: string, weight: number) =>
    new Promise<() => void>((start, reject) => {
      const refuse = (why: Refusal) => reject(refusalOf(why));
      gate.ask(shipperId, { start, refuse, weight });
      void recheckWhileAnyWaits();
    });

  return {
    enter: (shipperId, weight) => {
      gate.startReady(); // orders that wait already go first
      const leave = gate.enter(shipperId, weight);
      return leave ? Promise.resolve(leave) : slotFor(shipperId, weight);
    },
    turnAway: () => gate.turnAway((sinceMs) => performance.now() - sinceMs >= patienceMs),
  };
}
