import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../platform/postgres.js';
import { workOff, type SweeperDependencies } from './sweeper.js';
import { hasClaims } from './sweep-store.js';
import { longestStartMs } from './timing.js';

const pollMs = 20;

/**
 * Resolves when no attempt of a stopped webhook can start any more (faults, I5). New claims are refused since the
 * commit that stopped it; a claim made before starts its attempt within `longestStartMs` or not at all.
 */
export async function untilNoSendCanStart(db: Database, webhookId: string): Promise<void> {
  const until = performance.now() + longestStartMs;
  while (performance.now() < until && (await hasClaims(db, webhookId))) await sleep(pollMs);
}

/** Deletion: cancels at once what a request may take on; the sweeper does the rest. */
export async function cancelBacklog(deps: SweeperDependencies, webhookId: string): Promise<void> {
  await workOff(deps, webhookId, 'CANCEL');
}

/** Set to ACTIVE again: the oldest held go out at once, the sweeper paces the rest. */
export async function resumeBacklog(deps: SweeperDependencies, webhookId: string): Promise<void> {
  await workOff(deps, webhookId, 'RELEASE');
}
