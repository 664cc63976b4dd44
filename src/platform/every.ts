import { describeError } from './errors.js';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';

export interface TaskWatch {
  logger: Logger;
  /** If not set, failures are only in the log. */
  metrics?: Pick<Metrics, 'taskDuration' | 'taskFailures' | 'taskSucceededAt' | 'taskInterval'>;
}

/**
 * Runs a task again and again, never twice at once. A failure is logged and counted, and the next turn comes as usual. A task may
 * resolve with the milliseconds until its next turn, if that is to come at another time. The first one comes at once, or
 * after `firstAfterMs`.
 */
export function every(
  intervalMs: number,
  name: string,
  { logger, metrics }: TaskWatch,
  task: () => Promise<number | void>,
  firstAfterMs = 0,
): {
  /** The next turn comes now, or right after the one that is under way. */
  wake(): void;
  stop(): Promise<void>;
} {
  let stopped = false;
  let woken = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  metrics?.taskInterval.set({ task: name }, intervalMs / 1_000);
  metrics?.taskFailures.inc({ task: name }, 0);
  metrics?.taskSucceededAt.setToCurrentTime({ task: name }); // from now on it may be late

  const attempt = async (): Promise<number | void> => {
    const took = metrics?.taskDuration.startTimer({ task: name });
    try {
      const nextMs = await task();
      metrics?.taskSucceededAt.setToCurrentTime({ task: name });
      return nextMs;
    } catch (error) {
      metrics?.taskFailures.inc({ task: name });
      logger.warn({ task: name, error: describeError(error) }, 'background task failed');
    } finally {
      took?.();
    }
  };

  const turn = () => {
    timer = undefined;
    woken = false;
    running = attempt().then((nextMs) => {
      // Jitter keeps several workers from working in step.
      const waitMs = woken ? 0 : (nextMs ?? intervalMs) * (0.9 + 0.2 * Math.random());
      if (!stopped) timer = setTimeout(turn, waitMs);
    });
  };
  if (firstAfterMs > 0) timer = setTimeout(turn, firstAfterMs);
  else turn();

  return {
    wake: () => {
      woken = true;
      if (stopped || !timer) return;
      clearTimeout(timer);
      turn();
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}

export const maxIntervals = 4;

/** The pause after something that took `tookMs`, so that `share` of the time goes into it at most; within bounds. */
export const pauseAfter = (tookMs: number, leastMs: number, maxMs: number, share = 1 / 10): number =>
  Math.min(maxMs, Math.max(leastMs, tookMs / share));

/**
 * A task for `every` that looks for something: where that takes more than a tenth of the time it comes more rarely, down
 * to a fourth as often. Not where it resolves with true: it has found something, and the time went into that.
 */
export const sparing =
  (intervalMs: number, task: () => Promise<boolean | void>) => async (): Promise<number> => {
    const startedAt = performance.now();
    const hasFound = await task();
    return hasFound
      ? intervalMs
      : pauseAfter(performance.now() - startedAt, intervalMs, maxIntervals * intervalMs);
  };
