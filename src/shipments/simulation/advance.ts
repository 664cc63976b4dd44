import {
  recordEvents,
  type NewEvent,
  type RecordDependencies,
  type RecordResult,
} from '../../engine/engine.js';
import { ApiError, describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { inPieces } from '../../platform/walk.js';
import {
  listDue,
  postponeSteps,
  saveSteps,
  takeSteps,
  untilNextStep,
  type Outcomes,
  type Step,
} from './store.js';

const stepsAtOnce = 200;
const roundsPerRun = 20;
/** The time until a step is retried whose shipment is not created yet, or that failed with an outage. */
const pauseMs = 200;
/** The time until a step is retried that failed alone. */
const failedPauseMs = 60_000;
const minWaitMs = 10;
const maxWaitMs = 2_000;

export type AdvanceDependencies = RecordDependencies & { logger: Logger };

/**
 * A step is recorded first and counted then; a step that was recorded but not counted is recorded again under the same
 * id, which changes nothing. Resolves with the milliseconds until the next step, or undefined without simulations, at
 * the cost of one query.
 */
export async function advanceSimulations(deps: AdvanceDependencies): Promise<number | undefined> {
  for (let round = 0; round < roundsPerRun; round += 1) {
    const waitMs = await untilNextStep(deps.db);
    if (waitMs === null) return undefined;
    if (waitMs > 0) return Math.min(maxWaitMs, Math.max(minWaitMs, waitMs));
    if ((await makeDue(deps)) === 0) break; // another worker is making them
  }
  return minWaitMs;
}

async function makeDue(deps: AdvanceDependencies): Promise<number> {
  let made = 0;
  const failed: string[] = [];
  await inPieces(
    await listDue(deps.db, stepsAtOnce),
    stepsAtOnce,
    async (some) => void (made += await deps.db.transaction((tx) => makeSteps(deps, tx, some))),
    (shipmentId, error) => {
      deps.logger.error(
        { shipmentId, error: describeError(error) },
        'simulation step failed; trying again in a minute',
      );
      failed.push(shipmentId);
    },
  );
  if (failed.length > 0) await postponeSteps(deps.db, failed, failedPauseMs);
  return made + failed.length;
}

/** The steps stay locked until they are counted. Resolves with their number. */
async function makeSteps(deps: AdvanceDependencies, tx: Database, shipmentIds: string[]): Promise<number> {
  const steps = await takeSteps(tx, shipmentIds);
  if (steps.length === 0) return 0;
  const ready = steps.filter(({ created }) => created);
  const outcomes: Outcomes = {
    moved: [],
    ended: [],
    waiting: steps.flatMap(({ created, shipmentId }) => (created ? [] : [shipmentId])),
  };
  const results = ready.length > 0 ? await recordEvents(deps, ready.map(eventOf)) : [];
  ready.forEach((step, index) => {
    const result = results[index]!;
    outcomes[outcomeOf(step, result)].push(step.shipmentId);
    if (isRefused(result))
      deps.logger.info({ shipmentId: step.shipmentId, reason: result.message }, 'simulation ended early');
  });
  await saveSteps(tx, outcomes, pauseMs);
  return steps.length;
}

const eventOf = ({ shipmentId, simulationId, number, state }: Step): NewEvent => ({
  shipmentId,
  state,
  externalId: `simulation-${simulationId}-${number}`,
});

/** Another event changed the shipment, or it is gone. */
const isRefused = (result: RecordResult): result is ApiError =>
  result instanceof ApiError && result.httpStatus < 500;

function outcomeOf(step: Step, result: RecordResult): keyof Outcomes {
  if (isRefused(result)) return 'ended';
  if (result instanceof ApiError) return 'waiting';
  return step.isLast ? 'ended' : 'moved';
}
