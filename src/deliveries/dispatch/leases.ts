import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '../../platform/batch.js';
import { isInDoubt, type Database } from '../../platform/database/postgres.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import { giveBack, renewLeases } from '../outbox/claim.js';
import type { Due } from '../outbox/hand-over.js';
import { distinctTurns, passTurnsOn } from '../outbox/turns.js';
import type { DueClaim } from '../outbox/types.js';
import { untilBack } from '../record/until-back.js';
import type { Times } from '../times.js';
import type { Scheduler } from './scheduler.js';

export interface LeaseOptions {
  db: Database;
  leaseDb: Database;
  logger: Logger;
  times: Pick<Times, 'leaseMs' | 'patienceMs'>;
  orderHoldMs: number;
  /** States that are never superseded. */
  terminalStates: string[];
  held: Scheduler['held'];
  isDraining(): boolean;
  notify(due: Due[]): void;
}

export interface Leases {
  /** Gives a claim back that was not sent. Rejects where PostgreSQL does not say that it has it. */
  giveBack(claim: DueClaim): Promise<void>;
  /** Stops renewing. */
  stop(): void;
}

/** The pause before locked rows are tried again: nobody locks one for long. */
const againMs = 50;
const maxAgain = 2;

/** Renews the leases of this process's claims, and gives back what it does not send. */
export function createLeases(options: LeaseOptions): Leases {
  const { db, leaseDb, logger, isDraining } = options;
  const { leaseMs, patienceMs } = options.times;

  const renew = () => {
    const now = performance.now();
    const old = [...options.held()].flatMap(({ claim, asOfMs }) =>
      now - asOfMs > leaseMs / 5 ? [claim] : [],
    );
    if (old.length === 0) return;
    renewLeases(leaseDb, old, leaseMs).catch((error: unknown) =>
      logger.warn({ error: describeError(error) }, 'leases not renewed'),
    );
  };
  const renewal = setInterval(renew, leaseMs / 4);

  /**
   * Gives back many claims in one statement, and tries again after an outage. It does not try again if the statement
   * may have run: the next claim of the delivery has the same number, and would be taken from the process that is
   * sending it. A claim that is not given back waits for its lease to run out, and the log shows an attempt that was
   * never made.
   */
  const returns = createBatcher<DueClaim, Error | undefined>({
    maxItems: 200,
    concurrency: 1,
    maxWaiting: 10_000,
    // A failure is returned only for these claims: those that wait for the next statement have a try of their own.
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
    let left = claims;
    for (let again = 0; left.length > 0 && again <= maxAgain; again += 1) {
      if (again > 0) await sleep(againMs);
      const mayRepeat = (error: unknown) => !isDraining() && !isInDoubt(error);
      left = await untilBack(() => giveBack(leaseDb, left), mayRepeat, patienceMs);
    }
  };

  /** While it was claimed a later state may have been recorded, which left it alone. */
  const skipOvertaken = async (claims: DueClaim[]) => {
    const turns = distinctTurns(
      claims.flatMap(({ supersedes, webhookId, shipmentId }) =>
        supersedes && shipmentId !== null ? [{ webhookId, shipmentId, before: null }] : [],
      ),
    );
    if (turns.length === 0) return;
    try {
      options.notify(await passTurnsOn(db, { overtaken: turns, turns }, options));
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'what was overtaken is not skipped');
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
