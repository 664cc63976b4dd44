import type { Due } from '../outbox/hand-over.js';

export interface Retries {
  /** Has the webhook looked at when its retry is due. */
  at(delayMs: number, due: Due): void;
  stop(): void;
}

const togetherMs = 100;
const maxTimers = 1_000;
/** A retry due within this time always has a timer, however many others wait for hours. */
const soonMs = maxTimers * togetherMs;
const maxTimeoutMs = 2 ** 31 - 1; // of setTimeout

/**
 * Remembers when retries of this process are due; those of one moment share a timer. If one is forgotten, because there
 * are too many or the process ends, the sweeper finds it a second or two late.
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
