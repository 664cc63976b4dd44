export interface Wakes {
  /** Has the webhook looked at when its retry is due. */
  at(delayMs: number, webhookId: string): void;
  stop(): void;
}

const togetherMs = 100;
const mostTimers = 1_000;
/** Sooner than this a retry always has a timer, however many wait for hours; so many timers more at most. */
const soonMs = mostTimers * togetherMs;

/**
 * Remembers when retries of this process are due; those of one moment share a timer. What is forgotten, because there
 * are too many or the process ends, the sweeper finds, a second or two late.
 */
export function createWakes(look: (webhookIds: string[]) => void): Wakes {
  const timers = new Map<number, { webhookIds: Set<string>; timer: NodeJS.Timeout }>();
  return {
    at: (delayMs, webhookId) => {
      const slot = Math.ceil((performance.now() + delayMs) / togetherMs);
      const known = timers.get(slot);
      if (known) return void known.webhookIds.add(webhookId);
      if ((timers.size >= mostTimers && delayMs > soonMs) || delayMs > 2 ** 31 - 1) return;
      const webhookIds = new Set([webhookId]);
      const wake = () => {
        timers.delete(slot);
        look([...webhookIds]);
      };
      const timer = setTimeout(wake, slot * togetherMs - performance.now() + 1);
      timers.set(slot, { webhookIds, timer });
    },
    stop: () => {
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
