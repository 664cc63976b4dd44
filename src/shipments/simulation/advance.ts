import {
  recordEvents,
  type NewEvent,
  type RecordDependencies,
  type RecordResult,
  ms,
} from '../../engine/engine.js';
import { ApiError, describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { inPieces } from '../../platform/tasks.js';
import { lockShipper } from '../../accounts/shippers.js';

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

interface NewSimulation {
  shipmentId: string;
  shipperId: string;
  simulationId: string;
  states: string[];
  intervalMs: number;
}

/** Inserts the simulation, unless its shipment has one (`same`) or its shipper has `limit` of them (`many`). */
export const insertSimulation = (
  db: Database,
  simulation: NewSimulation,
  limit: number,
): Promise<'begun' | 'same' | 'many'> =>
  db.transaction(async (tx) => {
    await lockShipper(tx, simulation.shipperId); // concurrent starts count one another
    const [row] = await tx.query<{ same: boolean; begun: boolean }>(
      'insert-simulation',
      `with running as materialized (
         select shipment_id from simulations where shipper_id = $2
       ), begun as (
         insert into simulations (shipment_id, shipper_id, simulation_id, states, interval_ms)
         select $1, $2, $3, $4, $5
          where (select count(*) from running) < $6 and not exists (select from running where shipment_id = $1)
         returning 1
       )
       select exists (select from running where shipment_id = $1) as same, exists (select from begun) as begun`,
      [
        simulation.shipmentId,
        simulation.shipperId,
        simulation.simulationId,
        simulation.states,
        simulation.intervalMs,
        limit,
      ],
    );
    return row!.begun ? 'begun' : row!.same ? 'same' : 'many';
  });

export interface Step {
  shipmentId: string;
  simulationId: string;
  number: number;
  state: string;
  isLast: boolean;
  /** Before its shipment is created, a step cannot be made. */
  created: boolean;
}

/** Lists the longest due first. Simulations of suspended shippers rest. */
async function listDue(db: Database, limit: number): Promise<string[]> {
  const rows = await db.query<{ shipmentId: string }>(
    'list-due-simulations',
    `select m.shipment_id as "shipmentId" from simulations m
      where m.next_at <= now() and ${isMoving('m')} order by m.next_at limit $1`,
    [limit],
  );
  return rows.map(({ shipmentId }) => shipmentId);
}

/** Skips steps that another worker has locked. */
const takeSteps = (tx: Database, shipmentIds: string[]): Promise<Step[]> =>
  tx.query<Step>(
    'take-simulation-steps',
    `select m.shipment_id as "shipmentId", m.simulation_id as "simulationId", m.step + 1 as number,
            m.states[m.step + 1] as state, m.step + 1 >= cardinality(m.states) as "isLast",
            exists (select from shipment_progress p where p.shipment_id = m.shipment_id) as created
       from simulations m
      where m.shipment_id = any($1::uuid[]) and m.next_at <= now() and ${isMoving('m')}
      order by m.next_at for update of m skip locked`,
    [shipmentIds],
  );

const isMoving = (m: string) =>
  `exists (select from shippers s where s.shipper_id = ${m}.shipper_id and s.status = 'ACTIVE')`;

export interface Outcomes {
  /** The next step comes after the interval. */
  moved: string[];
  ended: string[];
  waiting: string[];
}

async function saveSteps(tx: Database, { moved, ended, waiting }: Outcomes, pauseMs: number): Promise<void> {
  await tx.query(
    'save-simulation-steps',
    `with ended as (
       delete from simulations where shipment_id = any($1::uuid[])
     ), waiting as (
       update simulations set next_at = clock_timestamp() + ${ms('$4')} where shipment_id = any($3::uuid[])
     )
     update simulations
        set step = step + 1, next_at = clock_timestamp() + interval_ms * interval '1 millisecond'
      where shipment_id = any($2::uuid[])`,
    [ended, moved, waiting, pauseMs],
  );
}

async function postponeSteps(db: Database, shipmentIds: string[], pauseMs: number): Promise<void> {
  await db.query(
    'postpone-simulation-steps',
    `update simulations set next_at = clock_timestamp() + ${ms('$2')} where shipment_id = any($1::uuid[])`,
    [shipmentIds, pauseMs],
  );
}

async function untilNextStep(db: Database): Promise<number | null> {
  const rows = await db.query<{ waitMs: number }>(
    'until-next-simulation-step',
    `select (extract(epoch from m.next_at - clock_timestamp()) * 1000)::float8 as "waitMs"
       from simulations m where ${isMoving('m')} order by m.next_at limit 1`,
  );
  return rows[0]?.waitMs ?? null;
}
