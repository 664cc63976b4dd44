import { forget } from '../platform/telemetry/metrics.js';

/** Without it the gauges have no series. Rejects as `reading` does. */
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

export async function inParallel(...readings: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(readings))
    if (result.status === 'rejected') throw result.reason;
}
