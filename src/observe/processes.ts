import { hostname } from 'node:os';
import { databaseNowMs } from '../platform/clock.js';
import type { Database } from '../platform/database/postgres.js';
import { every, type TaskWatch } from '../platform/every.js';
import { newId } from '../platform/ids.js';
import { buildInfo } from '../platform/version.js';

const renewEveryMs = 30_000;

/** Tells operators that this process runs, until it stops. */
export function registerProcess(db: Database, role: string, watch: TaskWatch): { stop(): Promise<unknown> } {
  const processId = newId();
  const startedAt = new Date(databaseNowMs());
  const renewing = every(renewEveryMs, 'register process', watch, () =>
    db
      .query(
        'register-process',
        `with gone as (
           delete from processes where seen_at < now() - interval '1 day'
         )
         insert into processes (process_id, role, host, version, commit, started_at, seen_at)
         values ($1, $2, $3, $4, $5, $6, now())
         on conflict (process_id) do update set seen_at = now()`,
        [processId, role, hostname(), buildInfo.version, buildInfo.commit, startedAt],
      )
      .then(() => undefined),
  );
  return {
    stop: async () => {
      await renewing.stop();
      await db.query('forget-process', 'delete from processes where process_id = $1', [processId]);
    },
  };
}

export interface Process {
  role: string;
  host: string;
  version: string;
  commit: string | null;
  startedAt: Date;
  seenAt: Date;
  /** Whether it has renewed its row in time. */
  isAlive: boolean;
}

/** The processes seen within the last hour, since one that was killed does not delete its row. */
export const listProcesses = (db: Database, limit: number): Promise<Process[]> =>
  db.query(
    'list-processes',
    `select role, host, version, commit, started_at as "startedAt", seen_at as "seenAt",
            seen_at > now() - ${renewEveryMs * 3} * interval '1 millisecond' as "isAlive"
       from processes where seen_at > now() - interval '1 hour'
      order by role, started_at, process_id limit $1`,
    [limit],
  );
