import type { Logger } from '../../platform/logger.js';
import { describeError } from '../../platform/errors.js';
import { mostRarely, pauseAfter } from '../../platform/every.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import type { TransitionDependencies } from '../circuit/transitions.js';
import { claimProbes } from '../outbox/claim.js';
import type { Times } from '../times.js';
import { byHandLeaseMs } from '../on-demand/send-by-hand.js';
import { distinctTurns, passTurnsOn } from '../outbox/turns.js';
import type { Claim, Turn, Unattended } from '../outbox/types.js';
import { cancelOwed, inspectPage, takeLapsed, type Position } from './store.js';

export interface SweeperOptions extends TransitionDependencies {
  db: Database;
  logger: Logger;
  metrics: Metrics;
  times: Times;
  orderHoldMs: number;
  /** Never superseded. */
  terminalStates: string[];
  deliveryTimeoutMs: number;
  /** These webhooks have something due that may be on its way. */
  lookFrom(unattended: Unattended[]): void;
  /** Sends what is claimed already; `issuedAt` of performance.now(), before the statement was sent. */
  accept(claims: Claim[], issuedAt: number): void;
}

const rowsPerPage = 20_000;
/** Of the time, while page follows page: beside a long backlog each delivery costs PostgreSQL hardly more. */
const shareOfPages = 1 / 20;
/** Of a deleted webhook's backlog, by the deletion and by each sweep after it. */
const cancelledAtOnce = 1_000;
const turnsPerStatement = 500;

/**
 * Makes the queue disposable and every race harmless: walks over the outbox, page by page, and checks each row. Any
 * number of workers may sweep at once. Returns the sweep, to be run again and again; it resolves with the milliseconds
 * until the next one. The pages of a long outbox follow each other sooner. Under an old snapshot even an empty
 * one is read for seconds: then the sweeps come more rarely.
 */
export function createSweep(options: SweeperOptions): () => Promise<number> {
  const { db, times, logger, metrics } = options;
  let after: Position | null = null;
  let spareUntil = 0;

  /**
   * After an outage a lease that ran out says nothing about its holder, who could not renew it; a crash may even have
   * forgotten the claim. For a while nothing is taken from those who have an outcome to record.
   */
  const spare = (error: unknown): never => {
    spareUntil = performance.now() + times.sparedMs;
    throw error;
  };

  const inspect = () => inspectPage(db, after, { ...times, ...options, limit: rowsPerPage });

  /** Returns the webhooks that have something due. */
  const takeUp = async (page: Position | null): Promise<string[]> => {
    const { webhookIds, count } = await takeLapsed(db, page, {
      leaseMs: times.leaseMs,
      byHandLeaseMs: byHandLeaseMs(options.deliveryTimeoutMs, times),
      limit: rowsPerPage,
    });
    if (count === 0) return [];
    logger.info({ deliveries: count }, 'swept');
    metrics.swept.inc({ kind: 'delivery' }, count);
    return webhookIds;
  };

  const inStatements = (found: Turn[]): Turn[][] => {
    const turns = distinctTurns(found);
    return Array.from({ length: Math.ceil(turns.length / turnsPerStatement) }, (_, n) =>
      turns.slice(n * turnsPerStatement, (n + 1) * turnsPerStatement),
    );
  };
  const pass = async (turns: Turn[], overtaken: Turn[] = []): Promise<void> =>
    options.look(
      await passTurnsOn(
        db,
        { overtaken: overtaken.map((turn) => ({ ...turn, before: null })), turns },
        options,
      ),
    );

  const probe = async (): Promise<void> => {
    const issuedAt = performance.now();
    const probeMs = options.deliveryTimeoutMs + times.leaseMs;
    options.accept(await claimProbes(db, times.leaseMs, probeMs), issuedAt);
  };

  const attempted = async (step: () => Promise<unknown>): Promise<void> => {
    await step().catch((error: unknown) =>
      logger.warn({ error: describeError(error) }, 'not swept; the next walk comes by here again'),
    );
  };

  return async () => {
    const startedAt = performance.now();
    const page = after;
    const found = await inspect().catch(async (error: unknown) => {
      await attempted(probe); // under an old snapshot a page may take longer than a statement may
      return spare(error);
    });
    const tookMs = performance.now() - startedAt;
    after = found.next; // whatever goes wrong with this page, it keeps no other waiting, nor a circuit from its probe
    const isSpared = performance.now() < spareUntil;
    if (!isSpared && found.unattended.length > 0) options.lookFrom(found.unattended);
    let due: string[] = [];
    const steps = [
      ...(found.lapsed && !isSpared ? [async () => void (due = await takeUp(page).catch(spare))] : []),
      ...inStatements(isSpared ? [] : found.overtaken).map((turns) => () => pass(turns, turns)),
      ...inStatements(found.stranded).map((turns) => () => pass(turns)),
      () => Promise.resolve(options.look(due)), // what was overtaken while it was claimed has gone by now
      ...found.deleted.map((webhookId) => () => cancelOwed(db, webhookId, cancelledAtOnce)),
      ...(found.probes ? [probe] : []),
    ];
    for (const step of steps) await attempted(step);
    return found.next
      ? pauseAfter(tookMs, 0, times.sweepEveryMs, shareOfPages)
      : pauseAfter(tookMs, times.sweepEveryMs, mostRarely * times.sweepEveryMs);
  };
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
