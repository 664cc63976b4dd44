import { audit, service, type Actor } from '../accounts/audit.js';
import type { Database } from '../platform/database/postgres.js';
import { unavailable } from '../platform/errors.js';

export interface FeedExtent {
  epoch: string;
  /** Positions before it are decided: later statements see all their events. */
  horizon: bigint;
  /** No event has this position or a later one yet. */
  end: bigint;
  /** A transaction has just begun to write: the horizon may advance far in a few milliseconds. */
  uncertain: boolean;
  isRenewed: boolean;
}

/** The lock that transactions take which change events and record none. */
const recordsNothing = [20_261, 9];

/**
 * Call this first in a transaction that changes events and records none, so that readers of the feed do not wait for its
 * end. It takes this lock before one on `events`, so no reader sees the second without the first.
 */
export async function recordNothing(tx: Database): Promise<void> {
  await tx.query('record-nothing', 'select pg_advisory_xact_lock_shared($1, $2)', recordsNothing);
}

interface ExtentRow {
  epoch: string;
  firstPosition: string;
  isOwn: boolean;
  isStandby: boolean;
  oldest: string;
  next: string;
  writers: (string | null)[];
}

/**
 * Identifies the history of this server. The timeline is taken from the current WAL file: pg_control_checkpoint() returns
 * that of the last checkpoint, which a promotion does not wait for. A standby has none.
 */
const ownHistory = `
  select system_identifier, 'feed'::regclass::oid as relation, pg_is_in_recovery() as is_standby,
         case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline
    from pg_control_system()`;
const isOfHistory =
  '(f.system_identifier, f.relation, f.timeline) = (c.system_identifier, c.relation, c.timeline)';

/**
 * The statement's snapshot is taken before it reads the locks. A recording transaction locks `events` before it gets a
 * transaction id, because it is a single statement, and releases the lock only after snapshots show its end. So a
 * transaction before `next` without the lock has ended for every later snapshot. A prepared transaction has no process,
 * so locks are joined by their transaction.
 */
const extentText = `
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
 * Reads how far the feed is decided. Events up to the horizon must be read in the same transaction, by a later statement:
 * on one connection, no crash of PostgreSQL lies in between, after which transaction ids are assigned again.
 */
export async function readFeedExtent(tx: Database): Promise<FeedExtent> {
  let [row] = await tx.query<ExtentRow>('read-feed-extent', extentText);
  if (row!.isStandby) throw unavailable('The database is a standby; nothing was read.'); // it does not show recording transactions
  const isRenewed = !row!.isOwn;
  if (isRenewed) {
    await renewFeed(tx, service);
    [row] = await tx.query<ExtentRow>('read-feed-extent', extentText);
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

/** A recording transaction waits at most this long, once. PostgreSQL cancels a blocking autovacuum after 1 s. */
const renewalLockTimeoutMs = 1_500;

/**
 * Renews the feed: its earlier cursors are refused, and later events come after all existing ones, as no server reaches
 * 2^48 transactions. Without a `reason`, it does so only if the server's history has changed: events recorded after the
 * dump or before the promotion may be gone, and their positions are assigned again. Waits for recording transactions,
 * which still use the earlier positions. Call it in a transaction.
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

export interface Transactions {
  /** Transactions from this one on begin or end after the read. */
  next: bigint;
  /** All transactions before this one have ended. */
  oldest: bigint;
  /** The low 32 bits of the ids of transactions that may write `events`; null for one without a visible id. */
  writers: (bigint | null)[];
}

const cycle = 1n << 32n;

/** Returns the first transaction that may still commit events: later statements see the events of all before it. */
export function horizonOf({ next, oldest, writers }: Transactions): bigint {
  const ids = writers.map((low) => {
    if (low === null) return oldest;
    const behind = (((next - low) % cycle) + cycle) % cycle;
    return behind < cycle / 2n ? next - behind : next; // began after the read
  });
  return ids.reduce((first, id) => (id < first ? id : first), next);
}
