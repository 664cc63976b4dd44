import type { ErasedShipment } from '../../deliveries/erasure/cancel.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import { beginErasures, finishErasures, type ErasureDependencies } from './erase.js';
import { nextAccepted, nextAgain, saveLooked, type Candidate } from './retention-store.js';
import { findUnderWay } from './under-way-store.js';

const shipmentsPerStep = 200;

export type RetentionDependencies = ErasureDependencies & { logger: Logger; retentionMs: number };

/**
 * A step of the retention: erases shipments whose last state is longer ago than `retentionMs`, some at a time. The walk
 * over what was accepted never turns back; what came to a state since is looked at again when its own time has come. So
 * each shipment is looked at twice at least and a few times at most. A step that breaks off is made again. Before that it
 * finishes what others have begun and may be gone. Returns whether there may be more to do.
 */
export async function eraseExpired(deps: RetentionDependencies): Promise<boolean> {
  const underWay = await findUnderWay(deps.db, shipmentsPerStep);
  await finishOrLeave(deps, underWay);
  const accepted = await nextAccepted(deps.db, deps.retentionMs, shipmentsPerStep);
  const again = await nextAgain(deps.db, deps.retentionMs, shipmentsPerStep);
  if (accepted.length + again.length === 0) return false;
  await eraseAmong(deps, accepted, accepted.at(-1)?.shipmentId ?? null);
  await eraseAmong(deps, again, null);
  return true;
}

/** What cannot be finished now stays under way, and keeps nothing else from being erased. */
async function finishOrLeave(deps: RetentionDependencies, shipments: ErasedShipment[]): Promise<void> {
  if (shipments.length === 0) return;
  try {
    await finishErasures(deps, shipments);
  } catch (error) {
    deps.logger.warn({ shipments: shipments.length, error: describeError(error) }, 'erasures finish later');
  }
}

async function eraseAmong(
  deps: RetentionDependencies,
  looked: Candidate[],
  last: string | null,
): Promise<void> {
  if (looked.length === 0) return;
  const open = looked.filter(({ erased }) => !erased).map(({ shipmentId }) => shipmentId);
  const erased = open.length > 0 ? await beginErasures(deps, open, null, deps.retentionMs) : [];
  await finishOrLeave(deps, erased);
  const done = new Set([
    ...looked.filter((candidate) => candidate.erased).map(({ shipmentId }) => shipmentId),
    ...erased.map(({ shipmentId }) => shipmentId),
  ]);
  await saveLooked(deps.db, looked, done, last);
  if (erased.length > 0) deps.logger.info({ shipments: erased.length }, 'personal data erased');
}
