import { audit, service, type Actor } from '../../accounts/audit/audit.js';
import type { Database } from '../../platform/database/postgres.js';
import { unavailable } from '../../platform/errors.js';
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
  /** This look has made all cursors void. */
  isRenewed: boolean;
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
  isStandby: boolean;
  oldest: string;
  next: string;
  writers: (string | null)[];
}

/**
 * Tells one history of the server from another. The timeline is that of the log being written: pg_control_checkpoint()
 * returns that of the last checkpoint, which a promotion does not wait for. A standby has none.
 */
const ownHistory = `
  select system_identifier, 'feed'::regclass::oid as relation, pg_is_in_recovery() as is_standby,
         case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline
    from pg_control_system()`;
const isOfHistory =
  '(f.system_identifier, f.relation, f.timeline) = (c.system_identifier, c.relation, c.timeline)';

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
         c.is_standby as "isStandby", ${isOfHistory} as "isOwn",
         case when s.oldest = s.next then '{}' else array(
           select i.transactionid::text::bigint
             from writers w
             left join locks i on i.virtualtransaction = w.virtualtransaction and i.locktype = 'transactionid'
                              and i.mode = 'ExclusiveLock') end as writers
    from feed f cross join snapshot s cross join (${ownHistory}) c`;

/**
 * Looks how far the feed is decided. What is read up to its horizon must be read in the same transaction, by a later
 * statement: of one connection, so that no crash of PostgreSQL lies in between, after which ids are given again.
 */
export async function lookAtFeed(tx: Database): Promise<Look> {
  let [row] = await tx.query<LookRow>('look-at-feed', lookText);
  if (row!.isStandby) throw unavailable('The database is a standby; nothing was read.'); // it does not show who records
  const isRenewed = !row!.isOwn;
  if (isRenewed) {
    await renewFeed(tx, service);
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
    isRenewed,
  };
}

/**
 * A transaction that records waits at most this long, once. It is longer than PostgreSQL waits before it cancels an
 * autovacuum (1 s).
 */
const renewalLockTimeoutMs = 1_500;

/**
 * Makes all cursors void, for a `reason` or if the server's history is not theirs: events recorded after the dump or
 * before the promotion may be gone, and their positions are given again. Everything recorded from now on comes after
 * everything that is there: no server reaches 2^48 transactions. It waits for transactions that are recording, because
 * they still use the earlier positions. To be called in a transaction.
 */
export async function renewFeed(tx: Database, actor: Actor, reason?: 'ASKED'): Promise<void> {
  await tx.query('bound-lock', `select set_config('lock_timeout', $1, true)`, [`${renewalLockTimeoutMs}ms`]);
  await tx.query('', 'lock table events in share row exclusive mode');
  const renewed = await tx.query(
    'renew-feed',
    `update feed f
        set epoch = gen_random_uuid(), first_position = f.first_position + (1::bigint << 48),
            system_identifier = c.system_identifier, relation = c.relation, timeline = c.timeline
       from (${ownHistory}) c
      where $1 or not ${isOfHistory}
     returning 1`,
    [reason === 'ASKED'],
  );
  if (renewed.length > 0) await audit(tx, actor, { action: 'FEED_RENEWED' });
}
