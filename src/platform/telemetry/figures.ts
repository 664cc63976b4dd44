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

type MakeFigure = <Label extends string = never>(
  name: string,
  help: string,
  labels?: readonly Label[],
) => Gauge<Label>;

/** The write-ahead log of PostgreSQL on its way to others. */
export const replicationFigures = (figure: MakeFigure) => ({
  slotKept: figure(
    'postgres_slot_kept_bytes',
    'Write-ahead log that a replication slot keeps from being removed; the fullest 50.',
    ['slot'],
  ),
  slotLimit: figure(
    'postgres_slot_limit_bytes',
    'max_slot_wal_keep_size of the server, if it is set: a slot that keeps more is lost.',
  ),
  archiveFailing: figure(
    'postgres_archive_failing_seconds',
    'Time since the archiver last succeeded, if it has failed since; else 0. None where nothing is archived.',
  ),
  standbys: figure(
    'postgres_standbys',
    'Standbys and other receivers of the write-ahead log; none for a role without pg_monitor.',
  ),
  standbyLagBytes: figure(
    'postgres_standby_lag_bytes',
    'Write-ahead log that a standby has not replayed yet; none for a role without pg_monitor.',
    ['standby'],
  ),
  standbyLagSeconds: figure(
    'postgres_standby_lag_seconds',
    'How long a standby last took to replay what was committed; none for a role without pg_monitor.',
    ['standby'],
  ),
});
