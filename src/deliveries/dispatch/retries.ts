import type { Due } from '../outbox/hand-over.js';

export interface Retries {
  /** Has the webhook looked at when its retry is due. */
  at(delayMs: number, due: Due): void;
  stop(): void;
}

const togetherMs = 100;
const maxTimers = 1_000;
/** Sooner than this a retry always has a timer, however many wait for hours; so many timers more at most. */
const soonMs = maxTimers * togetherMs;
const maxTimeoutMs = 2 ** 31 - 1; // of setTimeout

/**
 * Remembers when retries of this process are due; those of one moment share a timer. What is forgotten, because there
 * are too many or the process ends, the sweeper finds, a second or two late.
 */
export function createRetries(notify: (due: Due[]) => void): Retries {
  const timers = new Map<number, { due: Due[]; timer: NodeJS.Timeout }>();
  return {
    at: (delayMs, due) => {
      const moment = Math.ceil((performance.now() + delayMs) / togetherMs);
      const known = timers.get(moment);
      if (known) return void known.due.push(due);
      if ((timers.size >= maxTimers && delayMs > soonMs) || delayMs > maxTimeoutMs) return;
      const all = [due];
      const wake = () => {
        timers.delete(moment);
        notify(all);
      };
      const timer = setTimeout(wake, moment * togetherMs - performance.now() + 1);
      timers.set(moment, { due: all, timer });
    },
    stop: () => {
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
