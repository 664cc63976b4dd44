import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Database } from '../../../src/platform/database/postgres.js';
import { lockWaiters } from '../lock-waits.js';

const gateClass = 4711;
let lastGate = 0;

/**
 * Where a statement is stopped.
 *   SNAPSHOT  it has its snapshot and has locked and changed nothing yet: what is committed from now on it does not see
 *   COMMIT    all is done but the commit: nobody sees it, and its row locks last
 */
export type StopAt = 'SNAPSHOT' | 'COMMIT';

/** One statement stops once, until released. */
export interface Stop {
  db: Database;
  reached: Promise<void>;
  go(): void;
}

/**
 * Puts a gate before each statement that writes the outbox, after its snapshot: with `test.gate` set it waits for that
 * gate.
 */
export async function installGates(db: Database): Promise<void> {
  await db.query(
    '',
    `create function wait_at_gate() returns trigger language plpgsql as $$
     begin
       if coalesce(current_setting('test.gate', true), '') <> '' then
         perform pg_advisory_xact_lock_shared(${gateClass}, current_setting('test.gate')::int);
       end if;
       return null;
     end $$`,
  );
  await db.query(
    '',
    `create trigger gate before insert or update or delete on outbox for each statement execute function wait_at_gate()`,
  );
}

export const stopAt = (on: { db: Database; databaseUrl: string }, name: string, where: StopAt): Stop =>
  where === 'COMMIT' ? stopBeforeCommit(on.db, name) : stopAfterSnapshot(on, name);

function stopBeforeCommit(db: Database, name: string): Stop {
  const reached = deferred();
  const gone = deferred();
  return {
    db: intercept(db, name, async (tx, run) => {
      const rows = await run(tx);
      reached.resolve();
      await gone.promise;
      return rows;
    }),
    reached: reached.promise,
    go: gone.resolve,
  };
}

function stopAfterSnapshot(on: { db: Database; databaseUrl: string }, name: string): Stop {
  const reached = deferred();
  const gone = deferred();
  const gate = (lastGate += 1);
  return {
    db: intercept(on.db, name, async (tx, run) => {
      const keeper = await keeperOf(on.databaseUrl);
      await keeper.query('select pg_advisory_lock($1, $2)', [gateClass, gate]);
      await tx.query('', `select set_config('test.gate', $1, true)`, [String(gate)]);
      const rows = run(tx);
      rows.catch(() => undefined);
      try {
        await untilSomeoneWaits(keeper, gate);
        reached.resolve();
        await gone.promise;
      } finally {
        await keeper.query('select pg_advisory_unlock($1, $2)', [gateClass, gate]);
      }
      const result = await rows;
      await tx.query('', `select set_config('test.gate', '', true)`);
      return result;
    }),
    reached: reached.promise,
    go: gone.resolve,
  };
}

/** One connection per database keeps its gates closed; it lives as long as the test file. */
const keepers = new Map<string, Promise<pg.Client>>();

function keeperOf(connectionString: string): Promise<pg.Client> {
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString });
    client.on('error', () => undefined); // the database is dropped at the end
    await client.connect();
    return client;
  };
  const keeper = keepers.get(connectionString) ?? connect();
  keepers.set(connectionString, keeper);
  return keeper;
}

async function untilSomeoneWaits(client: pg.Client, gate: number): Promise<void> {
  const waiting = `select 1 from pg_locks where locktype = 'advisory' and classid = $1 and objid = $2 and not granted`;
  for (const end = Date.now() + 10_000; ; await sleep(1)) {
    if ((await client.query(waiting, [gateClass, gate])).rowCount) return;
    if (Date.now() > end) throw new Error('the statement never reached its gate');
  }
}

type Run = (tx: Database) => Promise<any[]>;

/** `handle` runs the first statement named `name` (any suffix for months), in its own transaction if it has none. */
function intercept(db: Database, name: string, handle: (tx: Database, run: Run) => Promise<any[]>): Database {
  let met = false;
  const wrap = (inner: Database, inTransaction: boolean): Database => ({
    query: (called, text, values) => {
      if (called.split('@')[0] !== name || met) return inner.query(called, text, values);
      met = true;
      const run: Run = (tx) => tx.query(called, text, values);
      return inTransaction ? handle(inner, run) : inner.transaction((tx) => handle(tx, run));
    },
    transaction: (work) => inner.transaction((tx) => work(wrap(tx, true))),
  });
  return wrap(db, false);
}

function deferred(): { promise: Promise<void>; resolve(): void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/** Resolves when `work` is done, or waits for a lock, or `orElse` finds a row. */
export async function doneOrWaiting(
  db: Database,
  work: Promise<unknown>,
  orElse = 'select 1 where false',
): Promise<'done' | 'waiting'> {
  let done = false;
  const mark = () => void (done = true);
  work.then(mark, mark);
  const waiting = `select 1 from (${lockWaiters}) w where locktype <> 'advisory' or classid <> ${gateClass}`;
  for (;;) {
    if (done) return 'done';
    if ((await db.query('', `${waiting} union all ${orElse}`)).length > 0 && !done) return 'waiting';
    await sleep(2);
  }
}
