import { heedDatabaseTime } from '../../platform/clock.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import { describeError } from '../../platform/errors.js';
import {
  maxIntervals,
  pauseAfter,
  afterFailure,
  walkStart,
  createWalk,
  inPieces,
  type Place,
} from '../../platform/tasks.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import { isFaultOfPiece, type Database } from '../../platform/database/postgres.js';
import { cancelOwed, distinctTurns, supersedeAndRelease } from '../outbox/turns.js';
import { claimProbes, takeLapsed } from '../outbox/claim.js';
import {
  clockToleranceMs,
  correctRows,
  findFirst,
  findFirstOwing,
  findLapsed,
  inspectPage,
  isTooFarAhead,
} from '../outbox/sweep.js';
import { deleteVoidRedeliveries, takeLapsedRedeliveries } from '../outbox/redelivery.js';
import type { Durations } from '../../platform/durations.js';
import { dueSinceUnknown, type Due, type DueClaim, type RowKey, type Turn } from '../outbox/types.js';
import { ms } from '../outbox/sql.js';

export interface SweeperOptions {
  db: Database;
  logger: Logger;
  metrics: Metrics;
  durations: Durations;
  orderHoldMs: number;
  terminalStates: string[];
  /** A test's lease is not renewed. */
  testLeaseMs: number;
  notify(due: Due[]): void;
  /** `asOfMs`: performance.now() before the claiming statement was sent. */
  accept(claims: DueClaim[], asOfMs: number): void;
  redeliver(): Promise<void>;
}

const rowsPerPage = 20_000;
const webhooksPerPage = 200;
/** Share of the time spent on a long outbox, so that its pages cost PostgreSQL little. */
const shareOfPages = 1 / 20;
/** Share of the time spent on looking for expired leases, which are found within some seconds. */
const shareOfWebhooks = 1 / 8;
/** The deletion of a webhook, and each sweep after it, cancels at most so many of its deliveries. */
const cancelledAtOnce = 1_000;
const perStatement = 500;

/**
 * Walks over the outbox page by page and puts right what was missed, so that the queue is disposable and every race
 * harmless. Any number of workers may sweep at once. A slow page (under an old snapshot even an empty outbox takes
 * seconds) makes the sweeps rarer. Expired leases are also searched for separately: no webhook waits until the walk has
 * passed another one's backlog. `walk` and `takeUpLapsed` are steps: they resolve with the milliseconds until the next.
 */
export function createSweeper(options: SweeperOptions) {
  const { db, durations, logger, metrics } = options;
  const leases = { leaseMs: durations.leaseMs, testLeaseMs: options.testLeaseMs };
  const maxLeaseMs = options.testLeaseMs;
  let graceUntil = 0;
  let clock: ClockReading | null = null;
  let lastSetBackMs = 0;
  metrics.walkedAt.setToCurrentTime(); // a new process is not late

  /**
   * After an outage an expired lease does not mean a dead process: it could not renew the lease, and a crash may even
   * have lost the claim. For a while no claim is taken from a process that may have an outcome to settle.
   */
  const startGrace = (error: unknown): never => {
    graceUntil = performance.now() + durations.outageGraceMs;
    throw error;
  };
  const isGrace = () => performance.now() < graceUntil;

  const stepFailed = (error: unknown, what: object = {}) =>
    logger.warn({ ...what, error: describeError(error) }, 'sweep step failed; retrying next pass');

  const rows = createWalk<RowKey>(
    rowsPerPage,
    (after) => findFirst(db, after),
    ({ deliveryId }, error) => stepFailed(error, { deliveryId }),
  );
  const webhooks = createWalk<string>(
    webhooksPerPage,
    (after) => findFirstOwing(db, after),
    (webhookId, error) => stepFailed(error, { webhookId }),
  );

  const attempted = (step: () => Promise<unknown>): Promise<unknown> =>
    step().catch((error: unknown) => stepFailed(error));

  /** Statements have a bounded size; rows that fail by themselves are skipped. */
  const inStatements = <Item extends object>(
    items: Item[],
    work: (some: Item[]) => Promise<void>,
  ): Promise<void> => inPieces(items, perStatement, work, (item, error) => stepFailed(error, { ...item }));

  /** A statement that takes too long by itself is no outage. */
  const startGraceIfDown = (error: unknown): never => {
    if (isFaultOfPiece(error)) throw error;
    return startGrace(error);
  };

  /** Overtaken rows are cancelled before their webhook is pulled. */
  const takeUp = (lapsed: RowKey[]): Promise<void> =>
    inStatements(lapsed, async (some) => {
      const { webhookIds, turns, count } = await takeLapsed(db, some, leases).catch(startGraceIfDown);
      if (count === 0) return;
      logger.info({ deliveries: count }, 'expired leases taken up');
      metrics.swept.inc({ kind: 'delivery' }, count);
      await attempted(() => release(turns, true));
      options.notify(dueSinceUnknown(webhookIds));
    });

  const release = (found: Turn[], areOvertaken: boolean): Promise<void> =>
    inStatements(distinctTurns(found), async (turns) => {
      const overtaken = areOvertaken ? turns.map((turn) => ({ ...turn, before: null })) : [];
      options.notify(await supersedeAndRelease(db, { overtaken, turns }, options));
    });

  const putRight = (ahead: RowKey[]): Promise<void> =>
    inStatements(ahead, async (some) =>
      options.notify(dueSinceUnknown(await correctRows(db, some, { setBackMs: lastSetBackMs, maxLeaseMs }))),
    );

  const probe = async (): Promise<void> => {
    const asOfMs = performance.now();
    options.accept(await claimProbes(db, durations.leaseMs, maxLeaseMs), asOfMs);
  };

  const readClock = (databaseMs: number, sentAt: number): void => {
    heedDatabaseTime(databaseMs, sentAt);
    const reading = { databaseMs, sentAt, receivedAt: performance.now() };
    const back = clock ? setBackMs(clock, reading) : 0;
    clock = reading;
    if (back === 0) return;
    lastSetBackMs = back;
    logger.warn(
      { setBackMs: Math.round(back) },
      "PostgreSQL's clock was set back; correcting what is scheduled",
    );
  };

  const walk = async (): Promise<number> => {
    const startedAt = performance.now();
    const found = await rows
      .page((after, limit) => inspectPage(db, after, { ...durations, ...options, maxLeaseMs, limit }))
      .catch(async (error: unknown) => {
        await attempted(probe); // under an old snapshot a page may exceed the statement timeout
        return startGraceIfDown(error);
      });
    const tookMs = performance.now() - startedAt;
    readClock(found.databaseMs, startedAt);
    if (!isGrace() && found.unattended.length > 0) options.notify(found.unattended);
    const steps = [
      () => putRight(found.ahead),
      () => (isGrace() ? Promise.resolve() : takeUp(found.lapsed)),
      () => (isGrace() ? Promise.resolve() : release(found.overtaken, true)),
      () => release(found.stranded, false),
      ...found.deleted.map((webhookId) => () => cancelSome(options, webhookId)),
      ...(found.probes ? [probe] : []),
    ];
    for (const step of steps) await attempted(step); // a failed step does not stop the others
    if (found.next) return pauseAfter(tookMs, 0, durations.sweepEveryMs, shareOfPages);
    await attempted(() =>
      correctOthers(db, {
        setBackMs: lastSetBackMs,
        maxLeaseMs,
        maxOpenMs: durations.circuit.maxWaitMs,
        limit: perStatement,
      }),
    );
    metrics.walkedAt.setToCurrentTime();
    return pauseAfter(tookMs, durations.sweepEveryMs, maxIntervals * durations.sweepEveryMs);
  };

  const takeUpLapsed = async (): Promise<number> => {
    if (isGrace()) return durations.sweepEveryMs;
    const startedAt = performance.now();
    const found = await webhooks.page((after, limit) => findLapsed(db, after, limit)).catch(startGraceIfDown);
    const tookMs = performance.now() - startedAt;
    if (!isGrace()) await takeUp(found.lapsed);
    return found.next === null
      ? pauseAfter(tookMs, durations.sweepEveryMs, maxIntervals * durations.sweepEveryMs)
      : pauseAfter(tookMs, 0, durations.sweepEveryMs / 4, shareOfWebhooks);
  };

  const redeliveries = async (): Promise<void> => {
    await deleteVoidRedeliveries(db).catch(startGraceIfDown);
    const lost = isGrace() ? 0 : await takeLapsedRedeliveries(db, durations.leaseMs, perStatement);
    if (lost > 0) logger.info({ deliveries: lost }, 'leases of redeliveries expired; retrying them');
    await options.redeliver();
  };

  return { walk, takeUpLapsed, redeliveries };
}

async function cancelSome(
  { db, logger }: { db: Database; logger: Logger },
  webhookId: string,
): Promise<void> {
  let place: Place<null> = walkStart(cancelledAtOnce);
  for (;;) {
    try {
      return void (await cancelOwed(db, webhookId, place.size));
    } catch (error) {
      if (!isFaultOfPiece(error) || place.size === 1) {
        return void logger.warn({ webhookId, error: describeError(error) }, 'backlog left to the sweeper');
      }
      place = afterFailure(place, null).place;
    }
  }
}

/** Cancels as much as one request may; the sweeper does the rest. */
export async function cancelBacklog(
  { db, logger }: { db: Database; logger: Logger },
  webhookId: string,
): Promise<void> {
  await cancelOwed(db, webhookId, cancelledAtOnce).catch((error: unknown) =>
    logger.warn({ webhookId, error: describeError(error) }, 'backlog left to the sweeper'),
  );
}

/** `performance.now()` before and after the query of PostgreSQL's time. */
export interface ClockReading {
  databaseMs: number;
  sentAt: number;
  receivedAt: number;
}

/** How far PostgreSQL's clock was set back, or slightly less, never more; 0 if it was not. */
export function setBackMs(before: ClockReading, now: ClockReading): number {
  const passedMs = now.sentAt - before.receivedAt;
  const backMs = passedMs - (now.databaseMs - before.databaseMs);
  return backMs > clockToleranceMs ? backMs : 0;
}

const maxReplayPause = `interval '1 minute'`;
/** A simulation pauses for its interval, or for a minute after a failed step. */
const maxSimulationPause = `greatest(interval_ms * interval '1 millisecond', interval '1 minute')`;

/** Circuits, manual attempts, replays and simulations. */
async function correctOthers(
  db: Database,
  options: { setBackMs: number; maxLeaseMs: number; maxOpenMs: number; limit: number },
): Promise<void> {
  const openWait = `coalesce(c.open_wait, ${ms('$3')})`;
  const none = `interval '0'`;
  const notLater = (time: string) => `case when ${time} > now() then now() else ${time} end`;
  await db.query(
    'put-others-right',
    `with off as materialized (
       select * from circuits c
        where ${isTooFarAhead('open_until', openWait)} or ${isTooFarAhead('probe_until', ms('$2'))}
           or ${isTooFarAhead('failing_since', none)} or ${isTooFarAhead('window_started_at', none)}
        order by webhook_id limit $4 for update skip locked
     ), circuits_right as (
       update circuits c
          set open_until = case when ${isTooFarAhead('c.open_until', openWait)}
                                then least(c.open_until - ${ms('$1')}, now() + ${openWait}) else c.open_until end,
              probe_until = case when c.probe_until is not null then least(c.probe_until, now() + ${ms('$2')}) end,
              failing_since = ${notLater('c.failing_since')}, last_failed_at = ${notLater('c.last_failed_at')},
              last_success_at = ${notLater('c.last_success_at')},
              window_started_at = ${notLater('c.window_started_at')}
        where c.webhook_id = any(array(select webhook_id from off))
     ), by_hand as (
       update redeliveries set lease_until = now() + ${ms('$2')}
        where delivery_id = any(array(
          select delivery_id from redeliveries where ${isTooFarAhead('lease_until', ms('$2'))}
           order by delivery_id limit $4 for update skip locked))
     ), replays_right as (
       update replays set next_at = now()
        where replay_id = any(array(
          select replay_id from replays where status = 'RUNNING' and ${isTooFarAhead('next_at', maxReplayPause)}
           order by replay_id limit $4 for update skip locked))
     )
     update simulations set next_at = now() + interval_ms * interval '1 millisecond'
      where shipment_id = any(array(
        select shipment_id from simulations where ${isTooFarAhead('next_at', maxSimulationPause)}
         order by shipment_id limit $4 for update skip locked))`,
    [options.setBackMs, options.maxLeaseMs, options.maxOpenMs, options.limit],
  );
}
