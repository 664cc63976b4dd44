import type { Gauge } from 'prom-client';

/** Removes the series of gauges: a figure that is not known any more would pass for the current one. */
export function forget(...gauges: Pick<Gauge, 'reset' | 'remove'>[]): void {
  for (const gauge of gauges) {
    gauge.reset();
    gauge.remove({}); // the series that a gauge without labels always has
  }
}

/**
 * Sets the gauges to what is read, and removes their other series. If `reading` rejects, it removes all and rejects, too.
 */
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
