import { describeError } from './errors.js';
import type { Logger } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';

export interface TaskWatch {
  logger: Logger;
  metrics?: Pick<Metrics, 'taskDuration' | 'taskFailures' | 'taskSucceededAt' | 'taskInterval'>;
}

/**
 * Repeats a task, one run at a time. A failure is logged and counted, and the next run comes as usual. The task may resolve with the
 * milliseconds until its next run. The first run comes at once, or after `firstAfterMs`.
 */
export function every(
  intervalMs: number,
  name: string,
  { logger, metrics }: TaskWatch,
  task: () => Promise<number | void>,
  firstAfterMs = 0,
): {
  wake(): void;
  stop(): Promise<void>;
} {
  let stopped = false;
  let woken = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  metrics?.taskInterval.set({ task: name }, intervalMs / 1_000);
  metrics?.taskFailures.inc({ task: name }, 0);
  metrics?.taskDuration.zero({ task: name });
  metrics?.taskSucceededAt.setToCurrentTime({ task: name }); // lateness counts from here

  const attempt = async (): Promise<number | void> => {
    const took = metrics?.taskDuration.startTimer({ task: name });
    try {
      const nextMs = await task();
      metrics?.taskSucceededAt.setToCurrentTime({ task: name });
      return nextMs;
    } catch (error) {
      metrics?.taskFailures.inc({ task: name });
      logger.warn(
        { task: name, error: describeError(error) },
        'background task failed; it runs again as scheduled',
      );
    } finally {
      took?.();
    }
  };

  const run = () => {
    timer = undefined;
    woken = false;
    running = attempt().then((nextMs) => {
      // Jitter keeps workers from running in step.
      const waitMs = woken ? 0 : (nextMs ?? intervalMs) * (0.9 + 0.2 * Math.random());
      if (!stopped) timer = setTimeout(run, waitMs);
    });
  };
  if (firstAfterMs > 0) timer = setTimeout(run, firstAfterMs);
  else run();

  return {
    wake: () => {
      woken = true;
      if (stopped || !timer) return;
      clearTimeout(timer);
      run();
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}

export const maxIntervals = 4;

/** The pause after which at most `share` of the time goes into the work; within bounds. */
export const pauseAfter = (tookMs: number, minMs: number, maxMs: number, share = 1 / 10): number =>
  Math.min(maxMs, Math.max(minMs, tookMs / share));

/**
 * If the search takes more than a tenth of the time, it runs less often, at least every `maxIntervals` intervals. If it
 * resolves with true it has found work, which took the time: the interval stays.
 */
export const sparing =
  (intervalMs: number, task: () => Promise<boolean | void>) => async (): Promise<number> => {
    const startedAt = performance.now();
    const hasFound = await task();
    return hasFound
      ? intervalMs
      : pauseAfter(performance.now() - startedAt, intervalMs, maxIntervals * intervalMs);
  };
