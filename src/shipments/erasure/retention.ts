import type { ErasedShipment } from '../../deliveries/erasure/cancel.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import { inPieces } from '../../platform/walk.js';
import { beginErasures, finishErasures, type ErasureDependencies } from './erase.js';
import { nextAccepted, nextAgain, saveLooked, type Candidate } from './retention-store.js';
import { findUnderWay } from './under-way-store.js';

const shipmentsPerStep = 200;
/** Time until a shipment that could not be erased is tried again. */
const stuckForMs = 3_600_000;

export type RetentionDependencies = ErasureDependencies & { logger: Logger; retentionMs: number };

/**
 * Makes steps of the retention: each erases shipments whose last state is longer ago than `retentionMs`, some at a time.
 * The walk over what was accepted never turns back; what came to a state since is looked at again when its own time has
 * come. So each shipment is looked at at least twice and at most a few times. A step that breaks off is made again; a
 * shipment that cannot be erased is passed over and comes again later. Before that, a step finishes erasures that other
 * processes have begun, as those processes may be gone. Resolves with whether there may be more to do.
 */
export function createRetention(deps: RetentionDependencies): () => Promise<boolean> {
  let after: string | null = null;
  return async () => {
    const underWay = await findUnderWay(deps.db, after, shipmentsPerStep);
    // Behind those that cannot be finished there may be others; at the end it begins anew.
    after = (await finishOrLeave(deps, underWay)) ? null : underWay.at(-1)!.shipmentId;
    const accepted = await nextAccepted(deps.db, deps.retentionMs, shipmentsPerStep);
    const again = await nextAgain(deps.db, deps.retentionMs, shipmentsPerStep);
    if (accepted.length + again.length === 0) return false;
    await eraseAmong(deps, accepted, accepted.at(-1)?.shipmentId ?? null);
    await eraseAmong(deps, again, null);
    return true;
  };
}

/**
 * What cannot be finished now stays under way, and keeps nothing else from being erased. Resolves with whether all is
 * finished.
 */
async function finishOrLeave(deps: RetentionDependencies, shipments: ErasedShipment[]): Promise<boolean> {
  let allFinished = true;
  const finish = (some: ErasedShipment[]) => finishErasures(deps, some);
  try {
    await inPieces(shipments, shipmentsPerStep, finish, ({ shipmentId }, error) => {
      allFinished = false;
      deps.logger.warn({ shipmentId, error: describeError(error) }, 'an erasure finishes later');
    });
  } catch (error) {
    allFinished = false;
    deps.logger.warn({ shipments: shipments.length, error: describeError(error) }, 'erasures finish later');
  }
  return allFinished;
}

async function eraseAmong(
  deps: RetentionDependencies,
  looked: Candidate[],
  last: string | null,
): Promise<void> {
  if (looked.length === 0) return;
  const open = looked.filter(({ erased }) => !erased).map(({ shipmentId }) => shipmentId);
  const erased: ErasedShipment[] = [];
  const stuck = new Set<string>();
  const begin = async (shipmentIds: string[]) => {
    erased.push(...(await beginErasures(deps, shipmentIds, null, deps.retentionMs)));
  };
  await inPieces(open, shipmentsPerStep, begin, (shipmentId, error) => {
    stuck.add(shipmentId);
    deps.logger.error({ shipmentId, error: describeError(error) }, 'personal data not erased yet');
  });
  await finishOrLeave(deps, erased);
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
