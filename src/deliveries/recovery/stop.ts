import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Times } from '../times.js';
import { cancelOwed } from './store.js';

const cancelledAtOnce = 1_000;

/**
 * Resolves when no attempt of a stopped webhook can start any more (faults, I5); call it after the commit that
 * stopped it. A statement that began before may still commit claims that nobody can see; but what is claimed starts
 * within `longestStartMs` of the issue of its statement, or PostgreSQL is asked again. So that time is waited out.
 */
export async function untilNoSendCanStart({
  longestStartMs,
  startMarginMs,
}: Pick<Times, 'longestStartMs' | 'startMarginMs'>): Promise<void> {
  const endsAt = performance.now() + longestStartMs + startMarginMs;
  // A timer counts from when its turn of the event loop began, which may be long ago.
  for (let leftMs = endsAt - performance.now(); leftMs > 0; leftMs = endsAt - performance.now())
    await sleep(leftMs);
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
