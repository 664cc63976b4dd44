import { lockShipper } from '../../accounts/shippers.js';
import { ms } from '../../engine/engine.js';
import type { Database } from '../../platform/database/postgres.js';

export interface NewSimulation {
  shipmentId: string;
  shipperId: string;
  simulationId: string;
  states: string[];
  intervalMs: number;
}

/** The state is null before the shipment is created. */
export async function findShipment(
  db: Database,
  shipperId: string,
  trackingId: string,
): Promise<{ shipmentId: string; state: string | null } | null> {
  const rows = await db.query<{ shipmentId: string; state: string | null }>(
    'find-shipment-state',
    `select shipment_id as "shipmentId",
            (select state from shipment_progress p where p.shipment_id = s.shipment_id) as state
       from shipments s where tracking_id = $2 and shipper_id = $1`,
    [shipperId, trackingId],
  );
  return rows[0] ?? null;
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
export async function listDue(db: Database, limit: number): Promise<string[]> {
  const rows = await db.query<{ shipmentId: string }>(
    'list-due-simulations',
    `select m.shipment_id as "shipmentId" from simulations m
      where m.next_at <= now() and ${isMoving('m')} order by m.next_at limit $1`,
    [limit],
  );
  return rows.map(({ shipmentId }) => shipmentId);
}

/** Skips steps that another worker has locked. */
export const takeSteps = (tx: Database, shipmentIds: string[]): Promise<Step[]> =>
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

export async function saveSteps(
  tx: Database,
  { moved, ended, waiting }: Outcomes,
  pauseMs: number,
): Promise<void> {
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

export async function postponeSteps(db: Database, shipmentIds: string[], pauseMs: number): Promise<void> {
  await db.query(
    'postpone-simulation-steps',
    `update simulations set next_at = clock_timestamp() + ${ms('$2')} where shipment_id = any($1::uuid[])`,
    [shipmentIds, pauseMs],
  );
}

export async function untilNextStep(db: Database): Promise<number | null> {
  const rows = await db.query<{ waitMs: number }>(
    'until-next-simulation-step',
    `select (extract(epoch from m.next_at - clock_timestamp()) * 1000)::float8 as "waitMs"
       from simulations m where ${isMoving('m')} order by m.next_at limit 1`,
  );
  return rows[0]?.waitMs ?? null;
}
