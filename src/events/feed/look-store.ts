import type { Database } from '../../platform/database/postgres.js';
import { horizonOf } from './horizon.js';

/** What a reader has to know before it reads. */
export interface Look {
  epoch: string;
  /** Positions before it are decided: all their events are there for statements that begin after the look. */
  horizon: bigint;
  /** No event has this position yet, or a later one. */
  end: bigint;
  /** Somebody has only begun to write: the horizon may be far behind what it will be in a moment. */
  uncertain: boolean;
}

/** Key of the advisory lock of those who change events and record none. */
const recordsNothing = [20_261, 9];

/**
 * To be called first in a transaction that changes events and records none: readers of the feed do not wait for its
 * end. It has the lock before it has one on `events`, so no look sees the second without the first.
 */
export async function recordNothing(tx: Database): Promise<void> {
  await tx.query('record-nothing', 'select pg_advisory_xact_lock_shared($1, $2)', recordsNothing);
}

interface LookRow {
  epoch: string;
  firstPosition: string;
  isOwn: boolean;
  oldest: string;
  next: string;
  writers: (string | null)[];
}

/**
 * The statement's snapshot is taken before it reads the locks. Who records locks `events` before it has a transaction
 * id, for it does so in one statement, and gives the lock back only after its end shows in snapshots. So whoever of
 * those before `next` does not hold the lock any more has ended for every later snapshot. A prepared transaction has
 * no process, so locks are put together by their transaction.
 */
const lookText = `
  with snapshot as materialized (
    select pg_snapshot_xmin(s)::text as oldest, pg_snapshot_xmax(s)::text as next from pg_current_snapshot() s
  ), locks as materialized (
    select virtualtransaction, locktype, database, relation, mode, transactionid, classid, objid from pg_locks
     where granted and pid is distinct from pg_backend_pid()
  ), writers as materialized (
    select virtualtransaction from locks
     where locktype = 'relation' and mode = 'RowExclusiveLock' and relation = 'events'::regclass
       and database = (select oid from pg_database where datname = current_database())
    except
    select virtualtransaction from locks
     where locktype = 'advisory' and (classid, objid) = (${recordsNothing.join()})
  )
  select f.epoch, f.first_position as "firstPosition", s.oldest, s.next,
         f.system_identifier = c.system_identifier and f.relation = 'feed'::regclass as "isOwn",
         case when s.oldest = s.next then '{}' else array(
           select i.transactionid::text::bigint
             from writers w
             left join locks i on i.virtualtransaction = w.virtualtransaction and i.locktype = 'transactionid'
                              and i.mode = 'ExclusiveLock') end as writers
    from feed f cross join snapshot s cross join pg_control_system() c`;

/**
 * Looks how far the feed is decided. What is read up to its horizon must be read in the same transaction, by a later
 * statement: of one connection, so that no crash of PostgreSQL lies in between, after which ids are given again.
 */
export async function lookAtFeed(tx: Database): Promise<Look> {
  let [row] = await tx.query<LookRow>('look-at-feed', lookText);
  if (!row!.isOwn) {
    await renewFeed(tx);
    [row] = await tx.query<LookRow>('look-at-feed', lookText);
  }
  const { epoch, firstPosition, oldest, next, writers } = row!;
  const horizon = horizonOf({
    oldest: BigInt(oldest),
    next: BigInt(next),
    writers: writers.map((id) => (id === null ? null : BigInt(id))),
  });
  return {
    epoch,
    horizon: BigInt(firstPosition) + horizon,
    end: BigInt(firstPosition) + BigInt(next),
    uncertain: writers.includes(null),
  };
}

/**
 * Where the database was restored from a dump, its cursors become void: the ids of transactions begin anew, and what was
 * recorded after the dump is gone. All that is recorded from now on comes after all that is there: no server comes to
 * 2^48 transactions. True for the one that did it.
 */
export async function renewFeed(db: Database): Promise<boolean> {
  const rows = await db.query(
    'renew-feed',
    `update feed f
        set epoch = gen_random_uuid(), first_position = f.first_position + (1::bigint << 48),
            system_identifier = c.system_identifier, relation = 'feed'::regclass
       from pg_control_system() c
      where f.system_identifier <> c.system_identifier or f.relation <> 'feed'::regclass
     returning 1`,
  );
  return rows.length > 0;
}
