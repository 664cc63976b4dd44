import type { Database } from '../../platform/database/postgres.js';

export interface Piece {
  deleted: number;
  next: string | null;
}

export type DeletePiece = (tx: Database, shipperId: string, after: string, limit: number) => Promise<Piece>;

/** Statements of the features above, which own these rows. */
export interface OwnersOfRows {
  /** Selects and locks the keys of at most $3 deliveries owed by shipper $1, behind $2. */
  owedPage: string;
  takeOutOwed: string;
  /** Keeps attempts from being folded into hours until the transaction ends. */
  lockCounts(tx: Database): Promise<void>;
  /** Announces a transaction that changes events and records none. */
  recordNothing(tx: Database): Promise<void>;
}

/** Rows of the shipper, or of all shippers if `isShared`. */
export interface PageRows {
  table: string;
  key: string;
  isShared: boolean;
}

export async function findNext(
  db: Database,
  { table, key, isShared }: PageRows,
  shipperId: string,
  after: string,
): Promise<string | null> {
  const rows = await db.query<{ next: string }>(
    '',
    `select ${key}::text as next from ${table}
      where ${isShared ? '$1::uuid is not null' : 'shipper_id = $1'} and ${key} > $2 order by ${key} limit 1`,
    [shipperId, after],
  );
  return rows[0]?.next ?? null;
}

/** True for one transaction at a time. */
export async function lockRemovals(tx: Database): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    'lock-removals',
    `select pg_try_advisory_xact_lock(hashtext('parcelhook-removals')) as locked`,
  );
  return row!.locked;
}

/** This check is cheap: it comes first, and without a transaction. */
export async function isAnyRemoved(db: Database): Promise<boolean> {
  const rows = await db.query('is-any-removed', `select from shippers where status = 'REMOVED' limit 1`);
  return rows.length > 0;
}

/** `isQuiet`: nothing of the shipper was found `quietMs` ago. */
export async function takeRemoved(
  tx: Database,
  quietMs: number,
): Promise<{ shipperId: string; isQuiet: boolean } | null> {
  const rows = await tx.query<{ shipperId: string; isQuiet: boolean }>(
    'take-removed',
    `select shipper_id as "shipperId", emptied_at is not null as "isQuiet" from shippers
      where status = 'REMOVED' and coalesce(emptied_at < now() - make_interval(secs => $1::float8 / 1000), true)
      order by emptied_at nulls first, shipper_id limit 1 for no key update skip locked`,
    [quietMs],
  );
  return rows[0] ?? null;
}

export async function markEmptied(tx: Database, shipperId: string, emptied: boolean): Promise<void> {
  await tx.query(
    'mark-emptied',
    `update shippers set emptied_at = case when $2 then now() end where shipper_id = $1`,
    [shipperId, emptied],
  );
}

export async function deleteShipper(tx: Database, shipperId: string): Promise<void> {
  await tx.query('delete-shipper', `delete from shippers where shipper_id = $1 and status = 'REMOVED'`, [
    shipperId,
  ]);
}

export async function countRemoved(db: Database): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'count-removed',
    `select count(*)::int as count from shippers where status = 'REMOVED'`,
  );
  return row!.count;
}

const pieceOf =
  (name: string, text: string): DeletePiece =>
  async (tx, shipperId, after, limit) => {
    const [row] = await tx.query<Piece>(name, text, [shipperId, after, limit]);
    return row!;
  };

/** Only a full page has a next one. */
const pieceBy = (key: string, gone = 'select count(*) from gone') =>
  `select (${gone})::int as deleted,
          case when (select count(*) from page) = $3 then (select ${key} from page order by ${key} desc limit 1) end as next`;

/**
 * Deletes webhooks as their shipper would, so that nothing more is owed to them, and their replays and redeliveries.
 */
export const stopWebhooks = pieceOf(
  'remove-stop-webhooks',
  `with page as materialized (
     select webhook_id, deleted_at from webhooks
      where shipper_id = $1 and webhook_id > $2::uuid order by webhook_id limit $3
   ), stopped as (
     update webhooks w set deleted_at = now(), stopped_at = now(), revision = revision + 1, updated_at = now()
       from page p where p.deleted_at is null and w.webhook_id = any(array[p.webhook_id]) and w.deleted_at is null
     returning 1
   ), replayed as (
     delete from replays r using page p where r.webhook_id = any(array[p.webhook_id]) returning 1
   ), asked as (
     delete from redeliveries r using page p where r.webhook_id = any(array[p.webhook_id]) returning 1
   )
   ${pieceBy('webhook_id', `select (select count(*) from stopped) + (select count(*) from replayed) + (select count(*) from asked)`)}`,
);

const deliveriesOf = (page: string, takeOut: string) => `
  with page as materialized (${page}), tried as (
    delete from attempts a using page p where a.delivery_id = any(array[p.delivery_id])
  ), gone as (${takeOut})
  ${pieceBy('delivery_id')}`;

export const deleteOwed = ({ owedPage, takeOutOwed }: OwnersOfRows): DeletePiece =>
  pieceOf('remove-owed', deliveriesOf(owedPage, takeOutOwed));

export const deleteLogged = pieceOf(
  'remove-logged',
  deliveriesOf(
    `select shipper_id, delivery_id from deliveries
      where shipper_id = $1 and delivery_id > $2::uuid order by delivery_id limit $3 for update skip locked`,
    `delete from deliveries d using page p where d.shipper_id = any(array[p.shipper_id])
        and d.delivery_id = any(array[p.delivery_id]) returning 1`,
  ),
);

export const deleteCounts =
  ({ lockCounts }: OwnersOfRows): DeletePiece =>
  async (tx, shipperId, after, limit) => {
    await lockCounts(tx); // counts folded meanwhile would be seen in neither table
    return removeCounts(tx, shipperId, after, limit);
  };

const countsOf = (table: string) => `
  select c.webhook_id, c.hour from page p cross join lateral (
    select webhook_id, hour from ${table} where webhook_id = p.webhook_id limit $3) c limit $3`;
const countsIn = (table: string, rows: string) => `
  delete from ${table} c using ${rows} r
   where c.webhook_id = any(array[r.webhook_id]) and c.hour = any(array[r.hour]) returning 1`;

const removeCounts = pieceOf(
  'remove-counts',
  `with page as materialized (
     select webhook_id from webhooks where shipper_id = $1 and webhook_id > $2::uuid order by webhook_id limit $3
   ), hours as materialized (${countsOf('webhook_hours')}
   ), counts as materialized (select distinct * from (${countsOf('attempt_counts')}) c
   ), gone as (${countsIn('webhook_hours', 'hours')}
   ), uncounted as (${countsIn('attempt_counts', 'counts')}
   )
   select ((select count(*) from gone) + (select count(*) from uncounted))::int as deleted,
          case when (select count(*) from hours) = $3 or (select count(*) from uncounted) >= $3 then $2::text
               when (select count(*) from page) = $3 then (select webhook_id::text from page order by webhook_id desc limit 1) end as next`,
);

export const deleteSimulations = pieceOf(
  'remove-simulations',
  `with page as materialized (
     select shipment_id from simulations where shipper_id = $1 and shipment_id > $2::uuid
      order by shipment_id limit $3 for update skip locked
   ), gone as (
     delete from simulations m using page p where m.shipment_id = any(array[p.shipment_id]) returning 1
   )
   ${pieceBy('shipment_id')}`,
);

/** The shipper's orders are picked from the waiting orders of all shippers, which are few. */
export const deleteWaitingOrders = pieceOf(
  'remove-waiting-orders',
  `with page as materialized (
     select shipment_id from orders_to_create where shipment_id > $2::uuid order by shipment_id limit $3
   ), own as materialized (
     select s.shipment_id from page p cross join lateral (
       select shipment_id from shipments where shipment_id = p.shipment_id and shipper_id = $1 limit 1) s
   ), locked as materialized (
     select o.shipment_id from own cross join lateral (
       select shipment_id from orders_to_create where shipment_id = own.shipment_id limit 1 for update skip locked) o
   ), waiting as (
     delete from orders_to_create o using locked l where o.shipment_id = any(array[l.shipment_id])
   ), gone as (
     delete from shipments s using locked l where s.shipment_id = any(array[l.shipment_id]) returning 1
   )
   ${pieceBy('shipment_id')}`,
);

export const deleteKeys = pieceOf(
  'remove-keys',
  `with page as materialized (
     select key from idempotency_keys where shipper_id = $1 and key > $2 order by key limit $3
   ), gone as (
     delete from idempotency_keys k using page p where k.shipper_id = $1 and k.key = any(array[p.key]) returning 1
   )
   ${pieceBy('key')}`,
);

/** Recording a state locks the shipment's progress first, so this waits for those locks, taken in the same order. */
export const deleteEvents =
  ({ recordNothing }: OwnersOfRows): DeletePiece =>
  async (tx, shipperId, after, limit) => {
    await recordNothing(tx);
    const page = await tx.query<{ event_id: string; shipment_id: string | null }>(
      'remove-find-events',
      `select event_id, shipment_id from events where shipper_id = $1 and event_id > $2::uuid
      order by event_id limit $3`,
      [shipperId, after, limit],
    );
    if (page.length === 0) return { deleted: 0, next: null };
    const shipmentIds = [...new Set(page.flatMap((row) => row.shipment_id ?? []))];
    await tx.query(
      'remove-lock-shipments',
      'select 1 from shipment_progress where shipment_id = any($1::uuid[]) order by shipment_id for update',
      [shipmentIds],
    );
    const eventIds = page.map((row) => row.event_id);
    const last = eventIds.at(-1)!;
    await tx.query('remove-events', removeEventsText, [eventIds, shipmentIds, eventIds[0], last]);
    return { deleted: page.length, next: page.length === limit ? last : null };
  };

const removeEventsText = `
  with tracked as (
    delete from shipment_progress where shipment_id = any($2::uuid[])
  ), waiting as (
    delete from orders_to_create where shipment_id = any($2::uuid[])
  ), marked as (
    delete from shipments_to_erase where shipment_id = any($2::uuid[])
  ), erased as (
    delete from erasures_under_way where shipment_id = any($2::uuid[])
  ), named as (
    delete from external_ids where event_id = any($1::uuid[])
  ), ordered as (
    delete from shipments where shipment_id = any($2::uuid[])
  )
  delete from events where event_id = any($1::uuid[]) and event_id >= $3::uuid and event_id <= $4::uuid`;

export const deleteWebhooks = pieceOf(
  'remove-webhooks',
  `with page as materialized (
     select webhook_id from webhooks where shipper_id = $1 and webhook_id > $2::uuid order by webhook_id limit $3
   ), resting as (
     delete from circuits c using page p where c.webhook_id = any(array[p.webhook_id])
   ), paced as (
     delete from webhook_starts s using page p where s.webhook_id = any(array[p.webhook_id])
   ), exhausted as (
     delete from exhausted_deliveries e using page p where e.webhook_id = any(array[p.webhook_id])
   ), gone as (
     delete from webhooks w using page p where w.webhook_id = any(array[p.webhook_id]) returning 1
   )
   ${pieceBy('webhook_id')}`,
);

export const deleteUsers = pieceOf(
  'remove-users',
  `with page as materialized (
     select user_id, email from users where shipper_id = $1 and email > $2 order by email limit $3
   ), linked as (
     delete from password_links l using page p where l.user_id = any(array[p.user_id])
   ), gone as (
     delete from users u using page p where u.user_id = any(array[p.user_id]) returning 1
   )
   ${pieceBy('email')}`,
);
