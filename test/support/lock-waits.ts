import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export interface LockWait {
  waiting: string;
  blocking: string[];
  event: string;
}

/** Other tests use the same server. */
export const lockWaiters = `select * from pg_locks
  where not granted and pid in (select pid from pg_stat_activity where datname = current_database())`;

const everyMs = 20;

const waits = `
  select a.wait_event as event, a.query as waiting,
         array(select b.query from pg_stat_activity b where b.pid = any(pg_blocking_pids(a.pid))) as blocking
    from pg_stat_activity a
   where a.datname = current_database() and a.wait_event_type = 'Lock' and a.wait_event in ('transactionid', 'tuple')`;

/** Checks every 20 ms in this database, until stopped. */
export async function watchLockWaits(
  databaseUrl: string,
): Promise<{ stop(): Promise<{ samples: number; found: LockWait[]; deadlocks: number }> }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined); // after a failed test the database may be dropped first
  await client.connect();
  const before = await deadlocks(client);
  const found: LockWait[] = [];
  let samples = 0;
  let stopped = false;
  const watching = (async () => {
    for (; !stopped; await sleep(everyMs)) {
      samples += 1;
      found.push(...(await client.query<LockWait>(waits)).rows.map(shortened));
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await watching;
      const after = await deadlocks(client);
      await client.end();
      return { samples, found, deadlocks: after - before };
    },
  };
}

const shortened = ({ event, waiting, blocking }: LockWait): LockWait => ({
  event,
  waiting: oneLine(waiting),
  blocking: blocking.map(oneLine),
});

const oneLine = (query: string) => query.replace(/\s+/g, ' ').slice(0, 160);

async function deadlocks(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]!.deadlocks);
}
