import { forget } from '../platform/metrics.js';

/** Sets gauges to what was read; without it they have no series. Rejects as `reading` does. */
export async function show<Figures>(
  gauges: Parameters<typeof forget>,
  reading: Promise<Figures>,
  set: (figures: Figures) => void,
): Promise<void> {
  const figures = await reading.catch((error: unknown) => {
    forget(...gauges);
    throw error;
  });
  forget(...gauges); // what is gone by now, such as a table
  set(figures);
}

/** Waits for all of them. Rejects with the first failure. */
export async function inParallel(...readings: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(readings))
    if (result.status === 'rejected') throw result.reason;
}
