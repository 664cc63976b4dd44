import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '../platform/batch.js';
import { unavailable } from '../platform/errors.js';

export interface Admission {
  /**
   * Resolves when the order may be accepted, with a function to call when it has had its share; shippers take turns. A
   * large order weighs more than the 1 of others. Throws ApiError UNAVAILABLE if too many wait already, and for the
   * waiting ones when no order gets through.
   */
  enter(shipperId: string, weight: number): Promise<() => void>;
  /** No order gets through: who has waited for long is told so at once, rather than finding out in turn. */
  turnAway(): void;
}

interface Waiting {
  since: number;
  weight: number;
  start(): void;
  refuse(error: unknown): void;
}

export interface AdmissionOptions {
  /** The total weight of the orders under way at once; the last order may exceed it. */
  atOnce: number;
  /** Deliveries that could go out now and wait for this process. */
  pressure(): number;
  /** With so many of them no order is accepted until they have gone out. */
  mostPressure: number;
}

const mostWaiting = 5_000;
const lookAgainMs = 4;

/** What is owed goes before what is asked for: accepting slows down, nothing is refused for that. */
export function createAdmission(options: AdmissionOptions): Admission {
  const queues = new Map<string, Waiting[]>(); // in the order of their turns
  let underWay = 0;
  let waiting = 0;
  let looking = false;

  const isOpen = () => underWay < options.atOnce && options.pressure() < options.mostPressure;
  const leaving = (weight: number) => () => {
    underWay -= weight;
    admit();
  };

  const admit = () => {
    while (waiting > 0 && isOpen()) {
      const [[shipperId, [first, ...others]]] = queues as unknown as [[string, Waiting[]]];
      queues.delete(shipperId); // goes to the end
      if (others.length > 0) queues.set(shipperId, others);
      waiting -= 1;
      underWay += first!.weight;
      first!.start();
    }
    if (waiting > 0 && !looking) void lookAgain();
  };
  const lookAgain = async () => {
    looking = true;
    await sleep(lookAgainMs);
    looking = false;
    admit();
  };

  return {
    enter: async (shipperId, weight) => {
      if (waiting >= mostWaiting) throw unavailable('Too many orders at once; try again.');
      if (waiting === 0 && isOpen()) underWay += weight;
      else {
        await new Promise<void>((start, refuse) => {
          const last = { since: performance.now(), weight, start, refuse };
          const others = queues.get(shipperId);
          if (others) others.push(last);
          else queues.set(shipperId, [last]);
          waiting += 1;
          admit();
        });
      }
      return leaving(weight);
    },
    turnAway: () => {
      for (const [shipperId, queue] of queues) {
        const patient = queue.filter(({ since }) => performance.now() - since < patienceMs);
        for (const { refuse } of queue.splice(0, queue.length - patient.length)) refuse(unavailable());
        if (patient.length === 0) queues.delete(shipperId);
      }
      waiting = [...queues.values()].reduce((sum, queue) => sum + queue.length, 0);
    },
  };
}
