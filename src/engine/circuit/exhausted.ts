import type { Database } from '../../platform/database/postgres.js';
import { ms } from '../outbox/sql.js';
import { changeAndNotify, type TransitionDependencies } from './circuit.js';
import { noFacts } from './notices.js';

const maxPerRun = 1_000;
const maxShipments = 10;
/** The rest is told at the end of the next pause. */
const maxDeliveries = 50_000;

/** $1: the pause in milliseconds. A clock that was set back does not prolong it. */
const isToldOf = (w: string) =>
  `coalesce(${w}.exhausted_told_at between now() - ${ms('$1')} and now(), false)`;

/** Reads an index entry for each webhook. */
const exhaustedWebhooks = `
  with recursive found as (
    (select webhook_id from exhausted_deliveries order by webhook_id limit 1)
    union all
    select n.webhook_id from found s cross join lateral (
      select webhook_id from exhausted_deliveries where webhook_id > s.webhook_id order by webhook_id limit 1) n
  )
  select s.webhook_id from found s left join webhooks w using (webhook_id)
   where w.webhook_id is null or w.deleted_at is not null or not ${isToldOf('w')}
   limit ${maxPerRun}`;

/**
 * Tells owners of deliveries whose retries are used up: of a webhook's first at once, of those that follow within
 * `pauseMs` in one notice at its end.
 */
export async function tellExhausted(deps: TransitionDependencies, pauseMs: number): Promise<void> {
  const found = await deps.db.query<{ webhook_id: string }>('find-exhausted', exhaustedWebhooks, [pauseMs]);
  if (found.length === 0) return;
  await changeAndNotify(deps, async (tx) => {
    const told = await takeExhausted(
      tx,
      found.map(({ webhook_id: webhookId }) => webhookId),
      pauseMs,
    );
    return told.map(({ webhookId, lastFailure, ...exhausted }) => ({
      ...noFacts,
      webhookId,
      state: 'DELIVERY_EXHAUSTED' as const,
      reason: null,
      lastFailure,
      exhausted,
    }));
  });
}

interface Exhausted {
  webhookId: string;
  lastFailure: string | null;
  count: number;
  trackingIds: string[];
}

/** Those of deleted webhooks are forgotten. */
async function takeExhausted(tx: Database, webhookIds: string[], pauseMs: number): Promise<Exhausted[]> {
  const locked = await tx.query<{ webhook_id: string }>(
    'lock-exhausted',
    `with locked as materialized (
       select webhook_id from webhooks w
        where webhook_id = any($2::uuid[]) and deleted_at is null and not ${isToldOf('w')}
        order by webhook_id for no key update skip locked
     )
     update webhooks set exhausted_told_at = now() where webhook_id = any(array(select webhook_id from locked))
     returning webhook_id`,
    [pauseMs, webhookIds],
  );
  return tx.query<Exhausted>(
    'take-exhausted',
    `with gone as (
       delete from exhausted_deliveries where ctid = any(array(
         select ctid from exhausted_deliveries e
          where webhook_id = any($1::uuid[])
             or webhook_id = any($2::uuid[]) and not exists (
                  select from webhooks where webhook_id = e.webhook_id and deleted_at is null)
          limit ${maxDeliveries}))
       returning webhook_id, shipment_id
     ), counted as (
       select webhook_id, count(*)::int as count, (array_agg(distinct shipment_id))[:${maxShipments}] as shipment_ids
         from gone where webhook_id = any($1::uuid[]) group by webhook_id
     )
     select webhook_id as "webhookId", count, (select last_failure from circuits where webhook_id = c.webhook_id) as "lastFailure",
            array(select tracking_id::text from shipments where shipment_id = any(c.shipment_ids) order by 1) as "trackingIds"
       from counted c`,
    [locked.map(({ webhook_id: webhookId }) => webhookId), webhookIds],
  );
}
