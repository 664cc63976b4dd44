import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '../../platform/batch.js';
import { isInDoubt, type Database } from '../../platform/database/postgres.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import { giveBack } from '../outbox/claim.js';
import type { Times } from '../times.js';
import { distinctTurns, passTurnsOn } from '../outbox/turns.js';
import type { Claim } from '../outbox/types.js';
import { untilBack } from '../record/until-back.js';

export interface GiveBackOptions {
  db: Database;
  leaseDb: Database;
  logger: Logger;
  times: Pick<Times, 'patienceMs'>;
  orderHoldMs: number;
  /** Never superseded. */
  terminalStates: string[];
  isDraining(): boolean;
  /** These webhooks have something due. */
  look(webhookIds: string[]): void;
}

/** For rows that were locked: nobody locks one for long. */
const againMs = 50;
const mostAgain = 2;

/**
 * Gives claims back that were not sent, many in one statement, and again after an outage. Not where it may have been
 * done already: the next claim of the delivery has the same number, and would be taken from whoever is sending it. What is
 * not given back waits for its lease to run out, and the log tells of an attempt that never was.
 */
export function createGiveBacks(options: GiveBackOptions): (claim: Claim) => Promise<void> {
  const { db, leaseDb, logger, times, isDraining } = options;
  const returns = createBatcher<Claim, Error | undefined>({
    maxItems: 200,
    concurrency: 1,
    maxWaiting: 10_000,
    // What goes wrong is the answer for these claims alone: who waits for the next statement has a try of his own.
    flush: async (claims) => {
      const failure = await giveAllBack(claims).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      await skipOvertaken(claims);
      return claims.map(() => failure);
    },
  });

  const giveAllBack = async (claims: Claim[]): Promise<void> => {
    let left = claims;
    for (let again = 0; left.length > 0 && again <= mostAgain; again += 1) {
      if (again > 0) await sleep(againMs);
      const mayRepeat = (error: unknown) => !isDraining() && !isInDoubt(error);
      left = await untilBack(() => giveBack(leaseDb, left), mayRepeat, times.patienceMs);
    }
  };

  /** While it was claimed a later state may have been recorded, which left it alone. */
  const skipOvertaken = async (claims: Claim[]) => {
    const turns = distinctTurns(
      claims.flatMap(({ supersedes, webhookId, shipmentId }) =>
        supersedes && shipmentId !== null ? [{ webhookId, shipmentId, before: null }] : [],
      ),
    );
    if (turns.length === 0) return;
    try {
      options.look(await passTurnsOn(db, { overtaken: turns, turns }, options));
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'what was overtaken is not skipped');
    }
  };

  return async (claim) => {
    const failure = await returns.add(claim);
    if (failure) throw failure;
  };
}
