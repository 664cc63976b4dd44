import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import { isUniqueViolation, type Database, type Pool } from '../../platform/database/postgres.js';
import type { Overtaken } from '../outbox/cancel.js';
import { dueSinceUnknown, type Due, type Claim, type Settlement, type Turn } from '../outbox/types.js';
import { resultsOf, settle, settleOnceMore, type SettlingResult } from '../outbox/settle.js';
import { distinctTurns, releaseTurns, supersedeAndRelease } from '../outbox/turns.js';

export interface SettleBatchOptions {
  db: Database & Pick<Pool, 'together'>;
  logger: Logger;
  orderHoldMs: number;
  terminalStates: string[];
  notify(due: Due[]): void;
}

export interface Outcome {
  claim: Claim;
  settlement: Settlement;
}

export type SettleBatch = (items: Outcome[]) => Promise<SettlingResult[]>;

export function createSettleBatch(options: SettleBatchOptions): SettleBatch {
  const { db, logger, orderHoldMs } = options;

  /** Uses one round trip if nothing can be superseded in between: at low load that saves a fifth of all messages. */
  const settleAndRelease = async (items: Outcome[], settlements: Settlement[]) => {
    const turns = items.some(mayBeOvertaken) ? [] : turnsAfter(items);
    if (turns.length === 0) return { settled: await settle(db, settlements), isReleased: false };
    const [settled, due] = await db.together(
      (one) => settle(one, settlements),
      (one) => releaseTurns(one, turns, orderHoldMs),
    );
    if (due.status === 'fulfilled') options.notify(due.value);
    else failedToRelease(turns, due.reason);
    if (settled.status === 'rejected') throw settled.reason;
    return { settled: settled.value, isReleased: due.status === 'fulfilled' };
  };

  const settleOnceMoreIfLogged = async (error: unknown, settlements: Settlement[]) => {
    if (!isUniqueViolation(error)) throw error;
    return { settled: await settleOnceMore(db, settlements), isReleased: false };
  };

  /** Does not reject: the outcomes are committed, and the sweeper finds what is missing. */
  const releaseNext = async (items: Outcome[]) => {
    const overtaken = distinctTurns(items.filter(mayBeOvertaken).flatMap(turnOf));
    const turns = distinctTurns([...overtaken, ...turnsAfter(items)]);
    if (turns.length === 0) return;
    try {
      options.notify(await supersedeAndRelease(db, { overtaken, turns }, options));
    } catch (error) {
      failedToRelease(turns, error);
    }
  };

  /** The turns may be released and only the response lost, so their webhooks are notified. */
  const failedToRelease = (turns: Turn[], error: unknown) => {
    logger.warn({ error: describeError(error) }, 'turns not released; left to the sweeper');
    options.notify(dueIn(turns));
  };

  return async (items) => {
    const settlements = items.map(({ settlement }) => settlement);
    const { settled, isReleased } = await settleAndRelease(items, settlements).catch((error: unknown) =>
      settleOnceMoreIfLogged(error, settlements),
    );
    const results = await resultsOf(db, settlements, settled);
    const earlier = items.filter((_, index) => results[index]!.kind === 'alreadySettled');
    if (earlier.length > 0) options.notify(dueIn(turnsAfter(earlier))); // the response that reported released turns was lost, too
    if (!isReleased) await releaseNext(items.filter((_, index) => results[index]!.kind !== 'lost'));
    return results;
  };
}

/** True if the delivery has failed and is still owed; a replay must have used an attempt of its schedule. */
const mayBeOvertaken = ({ claim: { supersedes, trigger }, settlement: { status } }: Outcome) =>
  supersedes && (status === 'RETRY' || (status === 'UNCHANGED' && trigger === 'SCHEDULED'));

const isFinal = ({ settlement: { status } }: Outcome) => status === 'SUCCEEDED' || status === 'FAILED';

const turnOf = ({ claim: { ordered, supersedes, webhookId, shipmentId } }: Outcome): Overtaken[] =>
  (ordered || supersedes) && shipmentId !== null ? [{ webhookId, shipmentId, before: null }] : [];

const turnsAfter = (items: Outcome[]) => distinctTurns(items.filter(isFinal).flatMap(turnOf));

const dueIn = (turns: Turn[]) => dueSinceUnknown(turns.map(({ webhookId }) => webhookId));
