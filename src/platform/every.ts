import { describeError } from './errors.js';
import type { Logger } from './logger.js';

/** Runs a task again and again, never twice at once. A failure is logged and the next turn comes as usual. */
export function every(
  intervalMs: number,
  name: string,
  logger: Logger,
  task: () => Promise<void>,
): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const turn = () => {
    running = task()
      .catch((error: unknown) =>
        logger.warn({ task: name, error: describeError(error) }, 'background task failed'),
      )
      .then(() => {
        // Jitter keeps several workers from working in step.
        if (!stopped) timer = setTimeout(turn, intervalMs * (0.9 + 0.2 * Math.random()));
      });
  };
  turn();

  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}
