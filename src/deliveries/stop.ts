import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../platform/errors.js';
import { workOff, type SweeperDependencies } from './sweeper.js';
import { mayBeSending } from './sweep-store.js';
import { longestStartMs } from './timing.js';

/**
 * Resolves when no attempt of a stopped webhook can start any more (faults, I5); call it after the commit that
 * stopped it. No claim issued since succeeds, and one issued before starts its attempt within `longestStartMs` of
 * being issued or not at all. A claim whose statement is still running cannot be seen, so that time is waited out
 * unless nothing of the webhook is due. Never rejects: the stop itself is committed.
 */
export async function untilNoSendCanStart(
  { db, logger }: SweeperDependencies,
  webhookId: string,
): Promise<void> {
  const issuedBeforeMs = performance.now();
  const wait = await mayBeSending(db, webhookId).catch((error: unknown) => {
    logger.warn({ webhookId, error: describeError(error) }, 'waiting without knowing whether it is needed');
    return true;
  });
  if (wait) await sleep(Math.max(0, issuedBeforeMs + longestStartMs - performance.now()));
}

/** Deletion: cancels at once what a request may take on; the sweeper does the rest, and all of it if this fails. */
export async function cancelBacklog(deps: SweeperDependencies, webhookId: string): Promise<void> {
  await workOff(deps, webhookId, 'CANCEL').catch((error: unknown) => leaveToSweeper(deps, webhookId, error));
}

/** Set to ACTIVE again: the oldest held go out at once, the sweeper paces the rest. */
export async function resumeBacklog(deps: SweeperDependencies, webhookId: string): Promise<void> {
  await workOff(deps, webhookId, 'RELEASE').catch((error: unknown) => leaveToSweeper(deps, webhookId, error));
}

/** The webhook's change is committed and bears the mark of its backlog: the request must not fail any more. */
const leaveToSweeper = ({ logger }: SweeperDependencies, webhookId: string, error: unknown) =>
  logger.warn({ webhookId, error: describeError(error) }, 'backlog left to the sweeper');
