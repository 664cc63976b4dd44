import type { Due } from '../outbox/types.js';

export interface Retries {
  at(delayMs: number, due: Due): void;
  stop(): void;
}

const slotMs = 100;
const maxTimers = 1_000;
/** A retry due within this time always has a timer, however many others wait for hours. */
const soonMs = maxTimers * slotMs;
const maxTimeoutMs = 2 ** 31 - 1; // of setTimeout

/** If a retry gets no timer because there are too many, the sweeper finds it a second or two late. */
export function createRetries(notify: (due: Due[]) => void): Retries {
  const timers = new Map<number, { due: Due[]; timer: NodeJS.Timeout }>();
  return {
    at: (delayMs, due) => {
      const slot = Math.ceil((performance.now() + delayMs) / slotMs);
      const known = timers.get(slot);
      if (known) return void known.due.push(due);
      if ((timers.size >= maxTimers && delayMs > soonMs) || delayMs > maxTimeoutMs) return;
      const all = [due];
      const wake = () => {
        timers.delete(slot);
        notify(all);
      };
      const timer = setTimeout(wake, slot * slotMs - performance.now() + 1);
      timers.set(slot, { due: all, timer });
    },
    stop: () => {
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
