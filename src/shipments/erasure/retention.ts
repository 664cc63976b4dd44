import type { ErasedShipment } from '../../history/retention/cancel-erased.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import { inPieces } from '../../platform/walk.js';
import { beginErasures, finishErasures, type ErasureDependencies } from './erase.js';
import { nextAccepted, nextAgain, saveChecked, findUnderWay, type Candidate } from './store.js';

const shipmentsPerStep = 200;
const retryAfterMs = 3_600_000;

export type RetentionDependencies = ErasureDependencies & { logger: Logger; retentionMs: number };

/**
 * A step erases some shipments whose last state is older than `retentionMs`. The walk over accepted shipments never
 * goes back; one that changed its state since is checked again when it is due. An interrupted step is repeated; a
 * shipment that fails is skipped and retried later. Each step first finishes erasures of other processes, which may be
 * gone. Resolves with whether there may be more to do. The walk needs no index on the time of the last state, which
 * each event would have to update: a shipment with a newer state waits in `shipments_to_erase` instead.
 */
export function createRetention(deps: RetentionDependencies): () => Promise<boolean> {
  let after: string | null = null;
  return async () => {
    const underWay = await findUnderWay(deps.db, after, shipmentsPerStep);
    // Others may follow those that cannot be finished; at the end the walk starts again.
    after = (await finishOrLeave(deps, underWay)) ? null : underWay.at(-1)!.shipmentId;
    const accepted = await nextAccepted(deps.db, deps.retentionMs, shipmentsPerStep);
    const again = await nextAgain(deps.db, deps.retentionMs, shipmentsPerStep);
    if (accepted.length + again.length === 0) return false;
    await eraseAmong(deps, accepted, accepted.at(-1)?.shipmentId ?? null);
    await eraseAmong(deps, again, null);
    return true;
  };
}

/** A failed erasure stays noted and delays no other. Resolves with whether all are finished. */
async function finishOrLeave(deps: RetentionDependencies, shipments: ErasedShipment[]): Promise<boolean> {
  let allFinished = true;
  const finish = (some: ErasedShipment[]) => finishErasures(deps, some);
  try {
    await inPieces(shipments, shipmentsPerStep, finish, ({ shipmentId }, error) => {
      allFinished = false;
      deps.logger.warn(
        { shipmentId, error: describeError(error) },
        'erasure not finished; a later step retries',
      );
    });
  } catch (error) {
    allFinished = false;
    deps.logger.warn(
      { shipments: shipments.length, error: describeError(error) },
      'erasures not finished; a later step retries',
    );
  }
  return allFinished;
}

async function eraseAmong(
  deps: RetentionDependencies,
  checked: Candidate[],
  last: string | null,
): Promise<void> {
  if (checked.length === 0) return;
  const open = checked.filter(({ erased }) => !erased).map(({ shipmentId }) => shipmentId);
  const erased: ErasedShipment[] = [];
  const stuck = new Set<string>();
  const begin = async (shipmentIds: string[]) => {
    erased.push(...(await beginErasures(deps, shipmentIds, null, deps.retentionMs)));
  };
  await inPieces(open, shipmentsPerStep, begin, (shipmentId, error) => {
    stuck.add(shipmentId);
    deps.logger.error(
      { shipmentId, error: describeError(error) },
      'personal data not erased; trying again in an hour',
    );
  });
  await finishOrLeave(deps, erased);
  const done = new Set([
    ...checked.filter((candidate) => candidate.erased).map(({ shipmentId }) => shipmentId),
    ...erased.map(({ shipmentId }) => shipmentId),
  ]);
  const retryAt = new Date(Date.now() - deps.retentionMs + retryAfterMs);
  const late = checked.map((candidate) =>
    stuck.has(candidate.shipmentId) ? { ...candidate, lastStateAt: retryAt } : candidate,
  );
  await saveChecked(deps.db, late, done, last);
  if (erased.length > 0) deps.logger.info({ shipments: erased.length }, 'personal data erased');
}
