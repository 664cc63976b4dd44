import { audit, type Actor } from '../accounts/audit.js';
import { cancelErasedUntilDone, type ErasedShipment } from '../history/retention/cancel-erased.js';
import type { Durations } from '../platform/durations.js';
import { recordNothing } from '../feed/extent-store.js';
import { eraseSomeEvents, markErased, type MarkedShipment, ms } from '../engine/engine.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import type { Database } from '../platform/database/postgres.js';
import type { Order } from './order.js';
import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/telemetry/logger.js';
import { inPieces } from '../platform/tasks.js';

export interface ErasureDependencies {
  db: Database;
  durations: Durations;
  metrics: Pick<Metrics, 'shipmentsErased'>;
}

/**
 * Asked for by the operator `by`. When it resolves, no earlier notification is sent or owed, and no later event or
 * attempt brings personal data back. Safe to repeat; if it rejects after its commit, a worker finishes it. The mark on
 * a shipment's progress comes first, because every recording locks that row: what was recorded before is rewritten, and
 * a later recording sees the mark and leaves out what was reported. A recording waits for the mark's commit, and with it
 * all events of its statement. So that transaction rewrites some events only; others follow for the rest. Rewritten
 * events (`DONE`) can never be claimed, replayed or redelivered again. Later ones (`AFTER`) are sent, but their responses
 * are not stored. An attempt claimed before the commits may still start within `maxStartMs`, so deliveries are cancelled
 * once more after that; its outcome is refused because its row is gone. Request headers are erased, too: someone who has
 * the secret could test guesses of what was signed.
 */
export async function eraseShipments(
  deps: ErasureDependencies,
  shipmentIds: string[],
  by: Actor,
): Promise<MarkedShipment[]> {
  const marked = await beginErasures(deps, shipmentIds, by, null);
  if (marked.length > 0) await finishErasures(deps, marked);
  return marked;
}

/** Then call `finishErasures`. `quietMs`: only without a new state for that time. `by`: null for the retention. */
async function beginErasures(
  deps: ErasureDependencies,
  shipmentIds: string[],
  by: Actor | null,
  quietMs: number | null,
): Promise<MarkedShipment[]> {
  const marked = await deps.db.transaction(async (tx) => {
    await recordNothing(tx);
    const shipments = await markErased(tx, shipmentIds, quietMs);
    if (shipments.length === 0) return [];
    const ids = shipments.map(({ shipmentId }) => shipmentId);
    await eraseSomeEvents(tx, ids);
    await eraseOrders(tx, ids);
    await noteUnderWay(tx, shipments);
    if (by) await auditErasures(tx, by, shipments);
    return shipments;
  });
  if (marked.length > 0)
    deps.metrics.shipmentsErased.inc({ cause: by ? 'operator' : 'retention' }, marked.length);
  return marked;
}

/** After the commit of `beginErasures`, which has erased the events of all but the longest histories. */
async function finishErasures(
  deps: Pick<ErasureDependencies, 'db' | 'durations'>,
  shipments: ErasedShipment[],
): Promise<void> {
  const ids = shipments.map(({ shipmentId }) => shipmentId);
  while ((await eraseInTransaction(deps.db, ids)) > 0);
  await cancelErasedUntilDone(deps, shipments);
  await forgetUnderWay(deps.db, shipments);
}

const eraseInTransaction = (db: Database, shipmentIds: string[]): Promise<number> =>
  db.transaction(async (tx) => {
    await recordNothing(tx);
    return eraseSomeEvents(tx, shipmentIds);
  });

async function auditErasures(tx: Database, by: Actor, shipments: MarkedShipment[]): Promise<void> {
  for (const { shipperId, shipmentId, isFirst } of shipments)
    if (isFirst) await audit(tx, by, { action: 'SHIPMENT_ERASED', shipperId, shipmentId });
}

async function eraseOrders(tx: Database, shipmentIds: string[]): Promise<void> {
  const orders = await findOrders(tx, shipmentIds);
  await saveErasedOrders(
    tx,
    orders.map(({ shipmentId, order }) => ({
      shipmentId,
      order: JSON.stringify(eraseOrder(JSON.parse(order) as Order)),
    })),
  );
}

const erased = 'ERASED';

/** The recipient's data and free text go; identifiers, dates, measures and the country stay. Still a valid order. */
export const eraseOrder = (order: Order): Order => ({
  ...order,
  recipientLocation: {
    street: erased,
    number: erased,
    administrativeArea: erased,
    subAdministrativeArea: erased,
    country: order.recipientLocation.country,
    neighborhood: erased,
    postalCode: erased,
    notes: null,
    reference: null,
    intNumber: null,
    lat: null,
    lng: null,
  },
  recipientInformation: { fullName: erased, phone: '00000', email: null },
  package: { ...order.package, description: erased, items: null },
});

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

interface OrderText {
  shipmentId: string;
  order: string;
}

const findOrders = (tx: Database, shipmentIds: string[]): Promise<OrderText[]> =>
  tx.query<OrderText>(
    'find-orders',
    `select shipment_id as "shipmentId", order_data as "order" from shipments
      where shipment_id = any($1::uuid[]) order by shipment_id`,
    [shipmentIds],
  );

/** Idempotency keys then accept any body: the first one's hash could be searched for a name or a phone number. */
async function saveErasedOrders(tx: Database, orders: OrderText[]): Promise<void> {
  await tx.query(
    'save-erased-orders',
    `with saved as (
       update shipments s set order_data = i.order_data
         from unnest($1::uuid[], $2::text[]) as i (shipment_id, order_data)
        where s.shipment_id = any(array[i.shipment_id])
       returning s.shipment_id, s.accepted_at
     )
     update idempotency_keys k set body_hash = ''
       from saved s where k.created_at = any(array[s.accepted_at]) and k.shipment_id = s.shipment_id`,
    [orders.map(({ shipmentId }) => shipmentId), orders.map(({ order }) => order)],
  );
}

/** Call it in the transaction of an erasure: its owed deliveries have to be cancelled once more. */
async function noteUnderWay(tx: Database, shipments: ErasedShipment[]): Promise<void> {
  await tx.query(
    'note-erasures-under-way',
    `insert into erasures_under_way (shipment_id) select unnest($1::uuid[]) order by 1 on conflict do nothing`,
    [shipments.map(({ shipmentId }) => shipmentId)],
  );
}

const findUnderWay = (db: Database, after: string | null, limit: number): Promise<ErasedShipment[]> =>
  db.query<ErasedShipment>(
    'find-erasures-under-way',
    `select u.shipment_id as "shipmentId", p.shipper_id as "shipperId"
       from (select shipment_id from erasures_under_way
              where shipment_id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000')
              order by shipment_id limit $2) u
      cross join lateral (
        select shipper_id from shipment_progress where shipment_id = u.shipment_id limit 1) p`,
    [after, limit],
  );

/** Skips rows that another process is removing. */
async function forgetUnderWay(db: Database, shipments: ErasedShipment[]): Promise<void> {
  await db.query(
    'forget-erasures-under-way',
    `with finished as materialized (
       select shipment_id from erasures_under_way where shipment_id = any($1::uuid[]) for update skip locked
     )
     delete from erasures_under_way u using finished f where u.shipment_id = any(array[f.shipment_id])`,
    [shipments.map(({ shipmentId }) => shipmentId)],
  );
}

interface Candidate {
  shipmentId: string;
  lastStateAt: Date;
  erased: boolean;
}

/** Shipments in the order of acceptance, longer ago than the retention, by the time in their ids. */
export const nextAccepted = (db: Database, retentionMs: number, limit: number): Promise<Candidate[]> =>
  db.query<Candidate>(
    'next-accepted',
    `select shipment_id as "shipmentId", updated_at as "lastStateAt", erased_at is not null as erased
       from shipment_progress
      where shipment_id > (select last_shipment_id from erasure_walk)
        and shipment_id < uuid_floor(now() - ${ms('$1')})
      order by shipment_id limit $2`,
    [retentionMs, limit],
  );

/** A shipment without a row in `shipment_progress` is gone, and counts as erased. */
export const nextAgain = (db: Database, retentionMs: number, limit: number): Promise<Candidate[]> =>
  db.query<Candidate>(
    'next-again',
    `select e.shipment_id as "shipmentId", coalesce(p.updated_at, e.last_state_at) as "lastStateAt",
            p.shipment_id is null or p.erased_at is not null as erased
       from (select * from shipments_to_erase where last_state_at < now() - ${ms('$1')}
              order by last_state_at limit $2) e
       left join lateral (
         select shipment_id, updated_at, erased_at from shipment_progress where shipment_id = e.shipment_id limit 1) p
         on true`,
    [retentionMs, limit],
  );

/** All of `checked` but `done` need another check; the walk continues after `last`. */
async function saveChecked(
  db: Database,
  checked: Candidate[],
  done: ReadonlySet<string>,
  last: string | null,
): Promise<void> {
  const later = checked.filter(({ shipmentId }) => !done.has(shipmentId));
  await db.query(
    'save-checked',
    `with gone as (
       delete from shipments_to_erase where shipment_id = any($1::uuid[])
     ), later as (
       insert into shipments_to_erase (shipment_id, last_state_at)
       select * from unnest($2::uuid[], $3::timestamptz[]) as l (shipment_id, last_state_at) order by 1
       on conflict (shipment_id) do update set last_state_at = excluded.last_state_at
     )
     update erasure_walk set last_shipment_id = $4 where last_shipment_id < $4::uuid`,
    [[...done], later.map(({ shipmentId }) => shipmentId), later.map(({ lastStateAt }) => lastStateAt), last],
  );
}
