import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '../../platform/batch.js';
import { isInDoubt, type Database } from '../../platform/database/postgres.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import { endProbes, giveBack, renewLeases } from '../outbox/claim.js';
import { giveRedeliveryBack, renewRedeliveries } from '../outbox/redelivery.js';
import type { Due, DueClaim } from '../outbox/types.js';
import { distinctTurns, supersedeAndRelease } from '../outbox/turns.js';
import { retryWhileDatabaseDown } from '../settle/settler.js';
import type { Durations } from '../../platform/durations.js';
import type { InFlight } from '../schedule/lanes.js';

export interface LeaseOptions {
  db: Database;
  leaseDb: Database;
  logger: Logger;
  durations: Pick<Durations, 'leaseMs' | 'patienceMs'>;
  orderHoldMs: number;
  /** States that are never superseded. */
  terminalStates: string[];
  claims(): readonly InFlight[];
  isDraining(): boolean;
  notify(due: Due[]): void;
}

export interface Leases {
  /** Rejects unless PostgreSQL confirms it. */
  giveBack(claim: DueClaim): Promise<void>;
  stop(): void;
}

/** Pause before locked rows are tried again; they are locked only briefly. */
const retryPauseMs = 50;
const maxRetries = 2;

const isByHand = ({ trigger }: DueClaim) => trigger === 'MANUAL';

export function createLeases(options: LeaseOptions): Leases {
  const { db, leaseDb, logger, isDraining } = options;
  const { leaseMs, patienceMs } = options.durations;

  const renew = () => {
    const now = performance.now();
    const old = options.claims().flatMap(({ claim, asOfMs }) => (now - asOfMs > leaseMs / 5 ? [claim] : []));
    if (old.length > 0) renewAll(old).catch(notRenewed);
  };
  const renewAll = async (claims: DueClaim[]) => {
    const byHand = claims.filter(isByHand);
    if (byHand.length > 0) await renewRedeliveries(leaseDb, byHand, leaseMs);
    await renewLeases(leaseDb, claims, leaseMs);
  };
  const notRenewed = (error: unknown) =>
    logger.warn({ error: describeError(error) }, 'leases not renewed; retrying');
  const renewal = setInterval(renew, leaseMs / 4);

  /**
   * Retried after an outage, but not if the statement may have run: the delivery's next claim has the same number and
   * would be taken from another process. A claim that is not given back waits for its lease to expire, and the log
   * shows an attempt that was never made.
   */
  const returns = createBatcher<DueClaim, Error | undefined>({
    maxItems: 200,
    concurrency: 1,
    maxWaiting: 10_000,
    // A failure is returned, not thrown: it must not reject the claims that wait for the next statement.
    flush: async (claims) => {
      const failure = await giveAllBack(claims).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      await skipOvertaken(claims);
      return claims.map(() => failure);
    },
  });

  const giveAllBack = async (claims: DueClaim[]): Promise<void> => {
    let left = claims.filter((claim) => !isByHand(claim));
    for (let again = 0; left.length > 0 && again <= maxRetries; again += 1) {
      if (again > 0) await sleep(retryPauseMs);
      const mayRetry = (error: unknown) => !isDraining() && !isInDoubt(error);
      left = await retryWhileDatabaseDown(() => giveBack(leaseDb, left), mayRetry, patienceMs);
    }
    for (const claim of claims.filter(isByHand))
      await retryWhileDatabaseDown(
        () => giveRedeliveryBack(db, claim),
        () => !isDraining(),
        patienceMs,
      );
    const probed = claims.filter((claim) => claim.isProbe && !left.includes(claim));
    if (probed.length > 0)
      await endProbes(
        leaseDb,
        probed.map(({ webhookId }) => webhookId),
      );
  };

  /** Later states recorded meanwhile did not cancel claimed ones, and releases may have missed those sent by hand. */
  const skipOvertaken = async (claims: DueClaim[]) => {
    const turnsOf = (some: DueClaim[]) =>
      distinctTurns(
        some.flatMap(({ webhookId, shipmentId }) =>
          shipmentId !== null ? [{ webhookId, shipmentId, before: null }] : [],
        ),
      );
    const overtaken = turnsOf(claims.filter(({ supersedes }) => supersedes));
    const turns = turnsOf(claims.filter((claim) => claim.supersedes || (claim.ordered && isByHand(claim))));
    if (turns.length === 0) return;
    try {
      options.notify(await supersedeAndRelease(db, { overtaken, turns }, options));
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'overtaken states not cancelled; left to the sweeper');
    }
  };

  return {
    giveBack: async (claim) => {
      const failure = await returns.add(claim);
      if (failure) throw failure;
    },
    stop: () => clearInterval(renewal),
  };
}
