/** The hour in UTC, whatever the session's time zone. */
export const hourOf = (timestamp: string) => `date_bin('1 hour', ${timestamp}, timestamptz 'epoch')`;

/**
 * Counts attempts by webhook and hour, without tests. The statement that writes the attempts into the log includes this,
 * so that both commit together. `attempts` selects webhook_id, started_at, trigger, succeeded and duration_ms (null if
 * the outcome is unknown).
 */
export const insertCounts = (attempts: string) => `
  insert into attempt_counts (webhook_id, hour, succeeded, failed, durations_ms)
  select webhook_id, ${hourOf('started_at')}, count(*) filter (where succeeded), count(*) filter (where not succeeded),
         array_agg(duration_ms) filter (where duration_ms is not null)
    from (${attempts}) a
   where trigger <> 'TEST'
   group by 1, 2`;
