import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import { isUniqueViolation, type Database, type Pool } from '../../platform/database/postgres.js';
import { findRecorded, settle, settleOnceMore } from '../outbox/settle.js';
import { distinctTurns, giveTurns, passTurnsOn, type Overtaken } from '../outbox/turns.js';
import type { Claim, Settlement, Turn } from '../outbox/types.js';

export interface SettlingOptions {
  db: Database & Pick<Pool, 'together'>;
  logger: Logger;
  orderHoldMs: number;
  /** Never superseded. */
  terminalStates: string[];
  /** These webhooks have something due. */
  look(webhookIds: string[]): void;
  /** As `look`, of what a statement made due that was sent at `issuedAt` (performance.now()). */
  lookAhead(webhookIds: string[], issuedAt: number): void;
}

/** A claim, and what became of its attempt. */
export interface Outcome {
  claim: Claim;
  settlement: Settlement;
}

/** Settles outcomes and gives turns to what comes after. Returns those that count; the others came too late. */
export type Settling = <Item extends Outcome>(items: Item[]) => Promise<Set<Item>>;

export function createSettling(options: SettlingOptions): Settling {
  const { db, logger, orderHoldMs } = options;

  /** In one message, where nothing is to be superseded in between: at light load that saves a fifth of all messages. */
  const settleAndGiveTurns = async (items: Outcome[]) => {
    const settlements = items.map(({ settlement }) => settlement);
    const turns = items.some(mayBeOvertaken) ? [] : turnsAfter(items);
    if (turns.length === 0) return { settled: await settle(db, settlements), turnsGiven: false };
    const issuedAt = performance.now();
    const [settled, due] = await db.together(
      (one) => settle(one, settlements),
      (one) => giveTurns(one, turns, orderHoldMs),
    );
    if (due.status === 'fulfilled') options.lookAhead(due.value, issuedAt);
    else failedToGive(turns, due.reason);
    if (settled.status === 'rejected') throw settled.reason;
    return { settled: settled.value, turnsGiven: due.status === 'fulfilled' };
  };

  const settleOnceMoreIfLogged = async (error: unknown, items: Outcome[]) => {
    if (!isUniqueViolation(error)) throw error;
    const settlements = items.map(({ settlement }) => settlement);
    return { settled: await settleOnceMore(db, settlements), turnsGiven: false };
  };

  /** What is overtaken goes first. What is lost here the sweeper finds: the outcomes are committed. */
  const passOn = async (items: Outcome[]) => {
    const overtaken = distinctTurns(items.filter(mayBeOvertaken).flatMap(turnOf));
    const turns = distinctTurns([...overtaken, ...turnsAfter(items)]);
    const issuedAt = performance.now();
    try {
      options.lookAhead(await passTurnsOn(db, { overtaken, turns }, options), issuedAt);
    } catch (error) {
      failedToGive(turns, error);
    }
  };

  /** The answer may be all that was lost: then these turns are given, and nobody else was told. */
  const failedToGive = (turns: Turn[], error: unknown) => {
    logger.warn({ error: describeError(error) }, 'turns not given');
    options.look(webhooksOf(turns));
  };

  return async (items) => {
    const { settled, turnsGiven } = await settleAndGiveTurns(items).catch((error: unknown) =>
      settleOnceMoreIfLogged(error, items),
    );
    const recorded = new Set(items.filter(({ claim }) => settled.get(claim.deliveryId) === claim.number));
    // Refused is also what was moved while the statement ran, and what is recorded but whose answer was lost.
    const refused = items.filter((item) => !recorded.has(item));
    if (refused.length > 0) {
      const ids = await findRecorded(
        db,
        refused.map(({ settlement }) => settlement),
      );
      const known = refused.filter(({ claim }) => ids.includes(claim.deliveryId));
      for (const item of known) recorded.add(item);
      options.look(webhooksOf(turnsAfter(known))); // with that answer, the one that told of turns was lost
    }
    if (!turnsGiven) await passOn([...recorded]);
    return recorded;
  };
}

/** It has failed, and is owed still; of a replay only what used up an attempt of its schedule. */
const mayBeOvertaken = ({ claim: { supersedes, trigger }, settlement: { status } }: Outcome) =>
  supersedes && (status === 'RETRY' || (status === 'UNCHANGED' && trigger === 'SCHEDULED'));

const isFinal = ({ settlement: { status } }: Outcome) => status === 'SUCCEEDED' || status === 'FAILED';

const turnOf = ({ claim: { ordered, supersedes, webhookId, shipmentId } }: Outcome): Overtaken[] =>
  (ordered || supersedes) && shipmentId !== null ? [{ webhookId, shipmentId, before: null }] : [];

/** Those whose turn may have come with what is finished. */
const turnsAfter = (items: Outcome[]) => distinctTurns(items.filter(isFinal).flatMap(turnOf));

const webhooksOf = (turns: Turn[]) => [...new Set(turns.map(({ webhookId }) => webhookId))];
