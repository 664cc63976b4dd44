import { codeOf, describeError, isUnavailable } from '../errors.js';
import { every } from '../tasks.js';
import type { Logger } from '../telemetry/logger.js';
import { isTooSlow, type Database, type Pool } from './postgres.js';

/** The greatest age of the data that a standby shows. */
const maxLagMs = 10_000;
const checkEveryMs = 2_000;
/** A standby that fell behind must have kept up for this long before it is used again. */
const steadyMs = 30_000;

/**
 * How old the data of a standby is at most, by the primary's position in the WAL: a standby that no longer receives
 * anything believes itself up to date.
 */
export class Lag {
  /** The primary's positions, the oldest first; the standby has reached at most one of them. */
  private positions: { atMs: number; position: bigint }[] = [];

  private firstMs: number | undefined;

  /** `atMs`: before the primary was asked. Null while the standby may still reach the first position in time. */
  observe(atMs: number, primary: bigint, standby: bigint): number | null {
    this.firstMs ??= atMs;
    this.positions.push({ atMs, position: primary });
    const reached = this.positions.findLast(({ position }) => position <= standby);
    this.positions = this.positions.filter(
      (each) => each === reached || (each.position > standby && atMs - each.atMs <= maxLagMs),
    );
    if (reached) return atMs - reached.atMs;
    return atMs - this.firstMs <= maxLagMs ? null : Infinity;
  }
}

/** Whether the standby is used: from when it first keeps up until it falls behind, and again after `steadyMs`. */
export class Use {
  isOn = false;
  private keepsUpSince = -Infinity;

  /** Returns true if it begins or ceases to be used. */
  judge(nowMs: number, lagMs: number): boolean {
    const keepsUp = lagMs <= maxLagMs;
    if (!keepsUp) this.keepsUpSince = Infinity;
    else if (this.keepsUpSince === Infinity) this.keepsUpSince = nowMs;
    const before = this.isOn;
    this.isOn = keepsUp && nowMs - this.keepsUpSince >= steadyMs;
    return this.isOn !== before;
  }
}

interface Position {
  /** The cluster and the database, which a standby shares with its primary. */
  identity: string;
  position: string | null;
}

const positionOf = (db: Database, isStandby: boolean): Promise<Position[]> =>
  db.query<Position>(
    '',
    `select system_identifier || ' ' || current_database() as identity,
            (${isStandby ? 'case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end' : 'pg_current_wal_lsn()'}
              - '0/0')::text as position
       from pg_control_system()`,
  );

const recoveryConflict = '40001';

/**
 * A database for reads that may be some seconds old: on the standby as long as that keeps up, otherwise on the primary.
 * A read that failed on the standby is repeated on the primary, unless the standby has too much to do.
 */
export function withReplica(
  primary: Database,
  standby: Pool,
  logger: Logger,
): Database & { stop(): Promise<void> } {
  const lag = new Lag();
  const use = new Use();
  let wasTold = false;

  const judge = (lagMs: number, reason: string) => {
    const hasChanged = use.judge(performance.now(), lagMs);
    if (use.isOn && hasChanged) logger.info({ lagMs: Math.round(lagMs) }, 'read replica is used');
    if (!use.isOn && (hasChanged || !wasTold))
      logger.warn({ reason }, 'read replica is not used: reads go to the primary');
    wasTold = true;
  };
  const measure = async () => {
    const atMs = performance.now();
    const [ours] = await positionOf(primary, false);
    const [theirs] = await positionOf(standby, true);
    if (theirs!.identity !== ours!.identity) throw new Error('it is not of the same cluster and database');
    if (theirs!.position === null) throw new Error('it is no standby');
    return lag.observe(atMs, BigInt(ours!.position!), BigInt(theirs!.position));
  };
  const watch = every(checkEveryMs, 'read-replica', { logger }, async () => {
    await measure().then(
      (lagMs) => lagMs !== null && judge(lagMs, `it is more than ${maxLagMs / 1_000} s behind`),
      (error: unknown) => judge(Infinity, describeError(error)),
    );
  });

  const query: Database['query'] = async (name, text, values) => {
    if (!use.isOn) return primary.query(name, text, values);
    try {
      return await standby.query(name, text, values);
    } catch (error) {
      const isBusy = isTooSlow(error) || standby.usage().waiting > 0;
      if (!isUnavailable(error) || isBusy) throw error;
      if (codeOf((error as Error).cause) !== recoveryConflict) judge(Infinity, describeError(error));
      return primary.query(name, text, values);
    }
  };
  return { query, transaction: (work) => primary.transaction(work), stop: watch.stop };
}
