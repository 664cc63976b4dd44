import type { Database } from '../platform/postgres.js';
import { daysOf, type TimeRange } from './log-range.js';
import { byStatus, everyStatus } from './status-condition.js';
import { deliveryColumns, deliveryJoins, type Delivery, type LogFilter } from './log-store.js';

/** What a piece of a page is looked for with. `beforeId` and later are on earlier pages. */
export interface PageQuery {
  shipperId: string;
  filter: LogFilter;
  range: TimeRange;
  beforeId: string | undefined;
  limit: number;
}

const ofState = 'state = $8';

function conditionsOf({ status, state }: LogFilter): readonly string[] {
  if (state === undefined) return status ? [byStatus[status]] : everyStatus;
  if (status === undefined) return [ofState];
  // Few succeed of a rare state, and few end badly of any.
  return status === 'SUCCEEDED'
    ? [`${ofState} and status || '' = 'SUCCEEDED'`]
    : [`${byStatus[status]} and state || '' = $8`];
}

/** Few enough to be read and sorted all of them. */
const fewMatches = 1_000;

/**
 * The newest matches of a range: of each webhook the newest `limit` by the index that fits the filter, then the
 * newest of those. With a tracking id: the range of ids of each of the shipment's events; another event of the same
 * millisecond may share that range.
 */
export async function readNewest(db: Database, query: PageQuery): Promise<Delivery[]> {
  const { page } = await (query.filter.trackingId === undefined
    ? read(db, query, 'list', newestOfEach)
    : read(db, query, 'list-of-shipment', ofShipment));
  return page;
}

/**
 * As `readNewest`, where few matches are likely: all of them are read, of all webhooks at once. Only if they are many
 * after all are they looked for webhook by webhook.
 */
export async function readFew(db: Database, query: PageQuery): Promise<Delivery[]> {
  if (query.filter.trackingId !== undefined) return readNewest(db, query);
  const { page, matches } = await read(db, query, 'list-few', ofAll);
  return matches === fewMatches ? readNewest(db, query) : page;
}

const newestOfEach = (filter: LogFilter, inRange: string) =>
  `from webhooks join lateral (${conditionsOf(filter)
    .map(
      (condition) => `(select delivery_id from deliveries
       where webhook_id = webhooks.webhook_id and ${inRange} and ${condition}
       order by delivery_id desc limit $6)`,
    )
    .join(' union all ')}) found on true
   where shipper_id = $1 and ($2::uuid is null or webhook_id = $2) and $7::text is null`;

const ofAll = (filter: LogFilter, inRange: string) =>
  `from (${conditionsOf(filter)
    .map(
      (condition) => `select delivery_id from deliveries
       where webhook_id = any(array(select webhook_id from webhooks
                                     where shipper_id = $1 and ($2::uuid is null or webhook_id = $2)))
         and ${inRange} and ${condition}`,
    )
    .join(' union all ')}) found
   where $7::text is null limit ${fewMatches}`;

const ofShipment = (filter: LogFilter, inRange: string) =>
  `from events
     join lateral (
       select delivery_id from deliveries
        where delivery_id >= overlay(events.event_id::text placing '0000-000000000000' from 20)::uuid
          and delivery_id <= overlay(events.event_id::text placing 'ffff-ffffffffffff' from 20)::uuid
          and event_id = events.event_id
          and webhook_id in (select webhook_id from webhooks where shipper_id = $1)
          and ($2::uuid is null or webhook_id = $2) and ${inRange} and (${conditionsOf(filter).join(' or ')})
     ) found on true
    where shipment_id = (select shipment_id from shipments where tracking_id = $7 and shipper_id = $1)`;

async function read(
  db: Database,
  { shipperId, filter, range, beforeId, limit }: PageQuery,
  kind: string,
  source: (filter: LogFilter, inRange: string) => string,
): Promise<{ page: Delivery[]; matches: number }> {
  const days = daysOf(range);
  const ofDays = days ? `delivery_id >= '${days.firstId}' and delivery_id < '${days.endId}'` : 'true';
  const inRange = `delivery_id >= uuid_floor($3) and delivery_id < least($4::uuid, uuid_floor($5)) and ${ofDays}`;
  const name = [kind, filter.status ?? 'any', filter.state && 'of-state', days?.firstId.slice(0, 13)];
  const rows = await db.query<Delivery & { matches: number }>(
    days && !days.today ? '' : name.filter(Boolean).join('-'),
    `with found as materialized (select delivery_id ${source(filter, inRange)}),
          page as (select delivery_id from found order by delivery_id desc limit $6)
     select ${deliveryColumns}, (select count(*)::int from found) as matches
       from page join (select * from deliveries where ${ofDays}) d using (delivery_id) ${deliveryJoins}
      order by d.delivery_id desc`,
    [
      shipperId,
      filter.webhookId ?? null,
      range.from,
      beforeId ?? null,
      range.before,
      limit,
      filter.trackingId ?? null,
      ...(filter.state === undefined ? [] : [filter.state]),
    ],
  );
  return { page: rows.map(({ matches: _, ...delivery }) => delivery), matches: rows[0]?.matches ?? 0 };
}
