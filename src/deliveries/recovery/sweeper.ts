import type { Logger } from '../../platform/logger.js';
import { describeError } from '../../platform/errors.js';
import { maxIntervals, pauseAfter } from '../../platform/every.js';
import type { Metrics } from '../../platform/metrics.js';
import { afterFailure, atTheBeginning, createWalk, inPieces, type Place } from '../../platform/walk.js';
import { isOfThePiece, type Database } from '../../platform/database/postgres.js';
import type { TransitionDependencies } from '../circuit/transitions.js';
import { cancelOwed } from '../outbox/cancel.js';
import { claimProbes } from '../outbox/claim.js';
import { findFirst, findFirstOwing, findLapsed, inspectPage } from '../outbox/inspect.js';
import { putRowsRight, takeLapsed } from '../outbox/lapse.js';
import type { Times } from '../times.js';
import { byHandLeaseMs } from '../on-demand/send-by-hand.js';
import { distinctTurns, passTurnsOn } from '../outbox/turns.js';
import { dueSinceUnknown, type Due } from '../outbox/hand-over.js';
import type { DueClaim, RowKey, Turn } from '../outbox/types.js';
import { putBackMs, putOthersRight, type ClockReading } from './clock.js';

export interface SweeperOptions extends TransitionDependencies {
  db: Database;
  logger: Logger;
  metrics: Metrics;
  times: Times;
  orderHoldMs: number;
  /** Never superseded. */
  terminalStates: string[];
  deliveryTimeoutMs: number;
  /** These webhooks have something due, which may be on its way. */
  notify(due: Due[]): void;
  /** Sends what is claimed already; `asOfMs` of performance.now(), before the statement was sent. */
  accept(claims: DueClaim[], asOfMs: number): void;
}

/** To be run again and again; each resolves with the milliseconds until its next turn. */
export interface Sweeper {
  /** Looks at the next page of the whole outbox. */
  walk(): Promise<number>;
  /** Takes up the claims of processes that have died, however much else is owed. */
  takeUpLapsed(): Promise<number>;
}

const rowsPerPage = 20_000;
const webhooksPerPage = 200;
/** Of the time, while page follows page: beside a long backlog each delivery costs PostgreSQL hardly more. */
const shareOfPages = 1 / 20;
/** The same of the looks for lapsed claims: whatever is owed, they come round within some seconds. */
const shareOfWebhooks = 1 / 8;
/** Of a deleted webhook's backlog, by the deletion and by each sweep after it. */
const cancelledAtOnce = 1_000;
const perStatement = 500;

/**
 * Makes the queue disposable and every race harmless: walks over the outbox, page by page, and checks each row. Any
 * number of workers may sweep at once. The pages of a long outbox follow each other sooner. Under an old snapshot even
 * an empty one is read for seconds: then the sweeps come more rarely. Lapsed claims are also looked for separately,
 * because no webhook may have to wait until the walk has passed another one's backlog.
 */
export function createSweeper(options: SweeperOptions): Sweeper {
  const { db, times, logger, metrics } = options;
  const leases = { leaseMs: times.leaseMs, byHandLeaseMs: byHandLeaseMs(options.deliveryTimeoutMs, times) };
  const longestLeaseMs = leases.byHandLeaseMs;
  let spareUntil = 0;
  let clock: ClockReading | null = null;
  let lastPutBackMs = 0;
  metrics.walkedAt.setToCurrentTime(); // there is no earlier walk to be late after

  /**
   * After an outage a lease that ran out says nothing about its holder, who could not renew it; a crash may even have
   * forgotten the claim. For a while no claim is taken from a process that may have an outcome to record. A page that
   * takes too long by itself is no outage.
   */
  const spare = (error: unknown): never => {
    spareUntil = performance.now() + times.sparedMs;
    throw error;
  };
  const isSparing = () => performance.now() < spareUntil;

  const notSwept = (error: unknown, what: object = {}) =>
    logger.warn({ ...what, error: describeError(error) }, 'not swept; the next walk comes by here again');

  const rows = createWalk<RowKey>(
    rowsPerPage,
    (after) => findFirst(db, after),
    ({ deliveryId }, error) => notSwept(error, { deliveryId }),
  );
  const webhooks = createWalk<string>(
    webhooksPerPage,
    (after) => findFirstOwing(db, after),
    (webhookId, error) => notSwept(error, { webhookId }),
  );

  const attempted = (step: () => Promise<unknown>): Promise<unknown> =>
    step().catch((error: unknown) => notSwept(error));

  /** Does `work` in statements of bounded size; a row that fails by itself is skipped. */
  const inStatements = <Item extends object>(
    items: Item[],
    work: (some: Item[]) => Promise<void>,
  ): Promise<void> => inPieces(items, perStatement, work, (item, error) => notSwept(error, { ...item }));

  const spareIfAway = (error: unknown): never => {
    if (isOfThePiece(error)) throw error;
    return spare(error);
  };

  /** Rows that were overtaken while claimed are removed before their webhook is pulled. */
  const takeUp = (lapsed: RowKey[]): Promise<void> =>
    inStatements(lapsed, async (some) => {
      const { webhookIds, turns, count } = await takeLapsed(db, some, leases).catch(spareIfAway);
      if (count === 0) return;
      logger.info({ deliveries: count }, 'swept');
      metrics.swept.inc({ kind: 'delivery' }, count);
      await attempted(() => pass(turns, true));
      options.notify(dueSinceUnknown(webhookIds));
    });

  const pass = (found: Turn[], areOvertaken: boolean): Promise<void> =>
    inStatements(distinctTurns(found), async (turns) => {
      const overtaken = areOvertaken ? turns.map((turn) => ({ ...turn, before: null })) : [];
      options.notify(await passTurnsOn(db, { overtaken, turns }, options));
    });

  const putRight = (ahead: RowKey[]): Promise<void> =>
    inStatements(ahead, async (some) =>
      options.notify(
        dueSinceUnknown(await putRowsRight(db, some, { putBackMs: lastPutBackMs, longestLeaseMs })),
      ),
    );

  const probe = async (): Promise<void> => {
    const asOfMs = performance.now();
    options.accept(await claimProbes(db, times.leaseMs, longestLeaseMs), asOfMs);
  };

  const readClock = (databaseMs: number, askedAt: number): void => {
    const reading = { databaseMs, askedAt, answeredAt: performance.now() };
    const back = clock ? putBackMs(clock, reading) : 0;
    clock = reading;
    if (back === 0) return;
    lastPutBackMs = back;
    logger.warn({ putBackMs: Math.round(back) }, "PostgreSQL's clock was put back");
  };

  const walk = async (): Promise<number> => {
    const startedAt = performance.now();
    const found = await rows
      .page((after, limit) => inspectPage(db, after, { ...times, ...options, longestLeaseMs, limit }))
      .catch(async (error: unknown) => {
        await attempted(probe); // while an old snapshot is open, a page may exceed the statement timeout
        return spareIfAway(error);
      });
    const tookMs = performance.now() - startedAt;
    readClock(found.databaseMs, startedAt);
    if (!isSparing() && found.unattended.length > 0) options.notify(found.unattended);
    const steps = [
      () => putRight(found.ahead),
      () => (isSparing() ? Promise.resolve() : takeUp(found.lapsed)),
      () => (isSparing() ? Promise.resolve() : pass(found.overtaken, true)),
      () => pass(found.stranded, false),
      ...found.deleted.map((webhookId) => () => cancelSome(options, webhookId)),
      ...(found.probes ? [probe] : []),
    ];
    for (const step of steps) await attempted(step); // a step that fails does not keep the others from running
    if (found.next) return pauseAfter(tookMs, 0, times.sweepEveryMs, shareOfPages);
    await attempted(() =>
      putOthersRight(db, {
        putBackMs: lastPutBackMs,
        longestLeaseMs,
        longestOpenMs: times.circuit.longestWaitMs,
        limit: perStatement,
      }),
    );
    metrics.walkedAt.setToCurrentTime();
    return pauseAfter(tookMs, times.sweepEveryMs, maxIntervals * times.sweepEveryMs);
  };

  const takeUpLapsed = async (): Promise<number> => {
    if (isSparing()) return times.sweepEveryMs;
    const startedAt = performance.now();
    const found = await webhooks.page((after, limit) => findLapsed(db, after, limit)).catch(spareIfAway);
    const tookMs = performance.now() - startedAt;
    if (!isSparing()) await takeUp(found.lapsed);
    return found.next === null
      ? pauseAfter(tookMs, times.sweepEveryMs, maxIntervals * times.sweepEveryMs)
      : pauseAfter(tookMs, 0, times.sweepEveryMs / 4, shareOfWebhooks);
  };

  return { walk, takeUpLapsed };
}

/** Cancels some of what a deleted webhook is owed; fewer deliveries if that takes too long. */
async function cancelSome(
  { db, logger }: { db: Database; logger: Logger },
  webhookId: string,
): Promise<void> {
  let place: Place<null> = atTheBeginning(cancelledAtOnce);
  for (;;) {
    try {
      return void (await cancelOwed(db, webhookId, place.size));
    } catch (error) {
      if (!isOfThePiece(error) || place.size === 1) {
        return void logger.warn({ webhookId, error: describeError(error) }, 'backlog left to the sweeper');
      }
      place = afterFailure(place, null).place;
    }
  }
}

/** Deletion: cancels at once what a request may take on; the sweeper does the rest, and all of it if this fails. */
export async function cancelBacklog(
  { db, logger }: { db: Database; logger: Logger },
  webhookId: string,
): Promise<void> {
  await cancelOwed(db, webhookId, cancelledAtOnce).catch((error: unknown) =>
    logger.warn({ webhookId, error: describeError(error) }, 'backlog left to the sweeper'),
  );
}
