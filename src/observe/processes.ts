import { hostname } from 'node:os';
import { databaseNowMs, heedDatabaseTime, machineAheadMs } from '../platform/clock.js';
import type { Database } from '../platform/database/postgres.js';
import { every, type TaskWatch } from '../platform/tasks.js';
import { newId } from '../platform/ids.js';
import { buildInfo } from '../platform/version.js';
import type { Metrics } from '../platform/telemetry/metrics.js';

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

/** Nothing of ours needs the machine's clock to be this right: signatures and due times are by PostgreSQL's. */
const wrongFromMs = 30_000;
/** Others than us refuse what is five minutes off. */
const unusableFromMs = 4 * 60_000;

/**
 * Reads PostgreSQL's clock at the start, before anything is signed; afterwards the checks of PostgreSQL and the sweeps
 * bring its time along.
 */
export async function readDatabaseClock(db: Database): Promise<void> {
  const sentAtMs = performance.now();
  const [row] = await db.query<{ nowMs: number }>(
    '',
    `select (extract(epoch from now()) * 1000)::float8 as "nowMs"`,
  );
  heedDatabaseTime(row!.nowMs, sentAtMs);
}

/**
 * While this machine's clock differs from PostgreSQL's by more than half a minute, the check and `wrong_clocks` say so;
 * from four minutes on the check rejects. A gauge has the difference. The text stays the same until the difference has
 * changed by half a minute.
 */
export function clockCheck(db: Database, metrics: Metrics, role: string): () => Promise<string | void> {
  const processId = newId();
  let told: number | null = null;
  let nextRowAt = -Infinity;
  metrics.onScrape(() => metrics.clockAhead.set(machineAheadMs() / 1_000));
  return async () => {
    const aheadMs = machineAheadMs();
    if (Math.abs(aheadMs) <= wrongFromMs) {
      if (told !== null) await deleteRow(db, processId);
      told = null;
      nextRowAt = -Infinity;
      return;
    }
    if (told === null || Math.abs(aheadMs - told) > wrongFromMs) told = aheadMs;
    if (performance.now() >= nextRowAt) {
      nextRowAt = performance.now() + renewEveryMs;
      await writeRow(db, { processId, role, host: hostname(), aheadMs: Math.round(aheadMs) }).catch(
        () => undefined, // the check of PostgreSQL reports it
      );
    }
    const text = `the clock of this machine is ${Math.round(Math.abs(told) / 1_000)} s ${told > 0 ? 'ahead of' : 'behind'} PostgreSQL's`;
    if (Math.abs(aheadMs) >= unusableFromMs) throw new Error(text);
    return text;
  };
}

export interface WrongClock {
  role: string;
  host: string;
  aheadMs: number;
  seenAt: Date;
}

/** Older rows are of processes that have ended. */
const isCurrent = `seen_at > now() - interval '2 minutes'`;

async function writeRow(
  db: Database,
  { processId, role, host, aheadMs }: Omit<WrongClock, 'seenAt'> & { processId: string },
): Promise<void> {
  await db.query(
    'write-wrong-clock',
    `with old as (
       delete from wrong_clocks where not (${isCurrent}) and process_id <> $1
     )
     insert into wrong_clocks (process_id, role, host, ahead_ms, seen_at) values ($1, $2, $3, $4, now())
     on conflict (process_id) do update set ahead_ms = excluded.ahead_ms, seen_at = excluded.seen_at`,
    [processId, role, host, aheadMs],
  );
}

const deleteRow = (db: Database, processId: string) =>
  db.query('delete-wrong-clock', 'delete from wrong_clocks where process_id = $1', [processId]);

export const listWrongClocks = (db: Database, limit: number): Promise<WrongClock[]> =>
  db.query(
    'list-wrong-clocks',
    `select role, host, ahead_ms::float8 as "aheadMs", seen_at as "seenAt" from wrong_clocks
      where ${isCurrent} order by abs(ahead_ms) desc, process_id limit $1`,
    [limit],
  );
