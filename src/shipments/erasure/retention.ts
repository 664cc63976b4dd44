import type { ErasedShipment } from '../../deliveries/erasure/cancel.js';
import { describeError } from '../../platform/errors.js';
import { inHalves } from '../../platform/halves.js';
import type { Logger } from '../../platform/logger.js';
import { beginErasures, finishErasures, type ErasureDependencies } from './erase.js';
import { nextAccepted, nextAgain, saveLooked, type Candidate } from './retention-store.js';
import { findUnderWay } from './under-way-store.js';

const shipmentsPerStep = 200;
/** Time until a shipment that could not be erased is tried again. */
const stuckForMs = 3_600_000;

export type RetentionDependencies = ErasureDependencies & { logger: Logger; retentionMs: number };

/**
 * A step of the retention: erases shipments whose last state is longer ago than `retentionMs`, some at a time. The walk
 * over what was accepted never turns back; what came to a state since is looked at again when its own time has come. So
 * each shipment is looked at at least twice and at most a few times. A step that breaks off is made again; a shipment
 * that cannot be erased is passed over and comes again later. Before that, it finishes erasures that other processes
 * have begun, as those processes may be gone. Returns whether there may be more to do.
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
    const failed = await inHalves(shipments, (some) => finishErasures(deps, some));
    for (const { item, error } of failed)
      deps.logger.warn(
        { shipmentId: item.shipmentId, error: describeError(error) },
        'an erasure finishes later',
      );
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
  const erased: ErasedShipment[] = [];
  const failed = await inHalves(open, async (shipmentIds) => {
    erased.push(...(await beginErasures(deps, shipmentIds, null, deps.retentionMs)));
  });
  await finishOrLeave(deps, erased);
  const stuck = new Set(failed.map(({ item }) => item));
  for (const { item, error } of failed)
    deps.logger.error({ shipmentId: item, error: describeError(error) }, 'personal data not erased yet');
  const done = new Set([
    ...looked.filter((candidate) => candidate.erased).map(({ shipmentId }) => shipmentId),
    ...erased.map(({ shipmentId }) => shipmentId),
  ]);
  const again = new Date(Date.now() - deps.retentionMs + stuckForMs);
  const late = looked.map((candidate) =>
    stuck.has(candidate.shipmentId) ? { ...candidate, lastStateAt: again } : candidate,
  );
  await saveLooked(deps.db, late, done, last);
  if (erased.length > 0) deps.logger.info({ shipments: erased.length }, 'personal data erased');
}
