import { recordEvents, type RecordDependencies } from '../events/record.js';
import { ApiError } from '../platform/errors.js';

/**
 * Creates accepted shipments: the initial state, its event and the deliveries owed for it, in one commit. A
 * shipment that is created already (a job that came twice) is left as it is. Answers how many were created.
 */
export async function createShipments(
  deps: RecordDependencies & { initialState: string },
  shipmentIds: string[],
): Promise<number> {
  const results = await recordEvents(
    deps,
    shipmentIds.map((shipmentId) => ({ shipmentId, state: deps.initialState })),
  );
  const failure = results.find((result) => result instanceof ApiError && result.httpStatus >= 500);
  if (failure) throw failure as ApiError;
  return results.filter((result) => !(result instanceof ApiError)).length;
}
