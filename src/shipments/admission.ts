import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '../platform/batch.js';
import { createGate, refusalOf, type Refusal } from '../platform/limits/gate.js';

export interface Admission {
  /**
   * Resolves when the order may be accepted, with a function to call when it is done; shippers take turns. A large
   * order weighs more than 1. Rejects with ApiError if too many wait, and with UNAVAILABLE for all that wait when no
   * order gets through.
   */
  enter(shipperId: string, weight: number): Promise<() => void>;
  /** No order gets through: who has waited for long is told so at once, rather than finding out in turn. */
  turnAway(): void;
}

export interface AdmissionOptions {
  /** The total weight of the orders under way at once; the last order may exceed it. */
  atOnce: number;
  /** Deliveries that could go out now and wait for this process. */
  pressure(): number;
  /** With so many of them no order is accepted until they have gone out. */
  maxPressure: number;
}

const maxWaiting = 5_000;
const lookAgainMs = 4;

/** What is owed goes before what is asked for: accepting slows down, nothing is refused for that. */
export function createAdmission({ atOnce, pressure, maxPressure }: AdmissionOptions): Admission {
  const isOpen = () => pressure() < maxPressure;
  const gate = createGate({ concurrency: atOnce, isOpen, maxWaiting });
  let looking = false;

  const lookWhileAnyWaits = async () => {
    if (looking) return;
    looking = true;
    for (; gate.waiting() > 0; gate.look()) await sleep(lookAgainMs);
    looking = false;
  };

  const turnOf = (shipperId: string, weight: number) =>
    new Promise<() => void>((start, reject) => {
      const refuse = (why: Refusal) => reject(refusalOf(why));
      gate.ask(shipperId, { start, refuse, weight });
      void lookWhileAnyWaits();
    });

  return {
    enter: (shipperId, weight) => {
      gate.look(); // those that already wait go first
      const leave = gate.enter(shipperId, weight);
      return leave ? Promise.resolve(leave) : turnOf(shipperId, weight);
    },
    turnAway: () => gate.turnAway((sinceMs) => performance.now() - sinceMs >= patienceMs),
  };
}
