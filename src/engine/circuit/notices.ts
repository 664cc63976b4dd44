import type { Durations } from '../../platform/durations.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import { dueSinceUnknown, type Due } from '../outbox/types.js';
import { databaseNowMs } from '../../platform/clock.js';
import { rowSet } from '../../platform/database/parameters.js';
import type { Database } from '../../platform/database/postgres.js';
import { newId } from '../../platform/ids.js';
import { oweAtOnce } from '../outbox/insert.js';
import { withoutQuerySql } from '../send/sealing.js';
import { ms } from '../outbox/sql.js';

/** Operational notifications. A webhook must list them in its interests; `*` does not include them. */
export const notices = [
  'WEBHOOK_FAILING',
  'WEBHOOK_RECOVERED',
  'WEBHOOK_DISABLING',
  'WEBHOOK_DISABLED',
  'DELIVERY_EXHAUSTED',
] as const;

export interface Notice {
  webhookId: string;
  state: (typeof notices)[number];
  reason: string | null;
  /** The first failure since its last success; null if it was not failing. */
  since: Date | null;
  /** When it is disabled at the earliest; null unless it fails. */
  disablesAt: Date | null;
  /** The status of the last failure's response, or its error code. */
  lastFailure: string | null;
  /** The deliveries whose retries were used up, and some of their shipments; else null. */
  exhausted: { count: number; trackingIds: string[] } | null;
}

/** Most notices say nothing of these. */
export const noFacts = { since: null, disablesAt: null, lastFailure: null, exhausted: null };

const epochMs = (date: Date | null) => date?.getTime() ?? null;

const noticeRows = rowSet<Notice & { eventId: string }>({
  event_id: ['uuid', ({ eventId }) => eventId],
  webhook_id: ['uuid', ({ webhookId }) => webhookId],
  state: ['text', ({ state }) => state],
  reason: ['text', ({ reason }) => reason],
  since: ['bigint', ({ since }) => epochMs(since)],
  disables_at: ['bigint', ({ disablesAt }) => epochMs(disablesAt)],
  deliveries: ['int', ({ exhausted }) => exhausted?.count ?? null],
  tracking_ids: ['json', ({ exhausted }) => (exhausted ? JSON.stringify(exhausted.trackingIds) : null)],
});

/**
 * Records notices as events without a shipment, owed to the shipper's other webhooks that list them in their interests.
 * The address is without its query. Call it in the transaction that changes the webhook. Returns the webhooks that are
 * owed one.
 */
async function recordNotices(tx: Database, about: Notice[]): Promise<string[]> {
  const now = new Date(databaseNowMs());
  const recorded = about.map((notice) => ({ ...notice, eventId: newId(now.getTime()) }));
  const rows = await tx.query<{ webhook_id: string }>(
    'record-notices',
    `with about as (
       select i.*, w.shipper_id, w.target_address
         from ${noticeRows.as('i', 3)}
         join webhooks w on w.webhook_id = i.webhook_id
     ), recorded as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       select event_id, shipper_id, 1, state, $1,
              json_build_object('state', state, 'webhook_id', webhook_id, 'target_address', ${withoutQuerySql('target_address')},
                                'reason', reason, 'since', since, 'disables_at', disables_at, 'deliveries', deliveries,
                                'tracking_ids', tracking_ids, 'timestamp', $2::bigint)::text
         from about
     )
     ${oweAtOnce(`select a.shipper_id, a.event_id, w.webhook_id, a.state
                    from about a
                    join webhooks w on w.shipper_id = a.shipper_id and w.webhook_id <> a.webhook_id
                     and w.deleted_at is null and a.state = any(w.interests)`)}`,
    [now, now.getTime(), ...noticeRows.arrays(recorded)],
  );
  return rows.map((row) => row.webhook_id);
}

export interface TransitionDependencies {
  db: Database;
  durations: Pick<Durations, 'circuit'>;
  notify(due: Due[]): void;
  logger: Logger;
  metrics: Metrics;
  /** Called in the transaction that disables the webhooks. */
  onDisabled(tx: Database, webhooks: Disabled[]): Promise<void>;
  /** Called in the transaction that records the notices. */
  onNoticed?(tx: Database, notices: Notice[]): Promise<void>;
}

export interface Disabled {
  webhookId: string;
  shipperId: string;
}

/** Records the notices in the transaction of the change. */
export async function changeAndNotify(
  { db, notify, logger, metrics, onNoticed }: TransitionDependencies,
  change: (tx: Database) => Promise<Notice[]>,
): Promise<void> {
  let owing: string[] = [];
  const told = await db.transaction(async (tx) => {
    const made = await change(tx);
    if (made.length === 0) return made;
    owing = await recordNotices(tx, made);
    await onNoticed?.(tx, made);
    return made;
  });
  for (const { webhookId, state, reason } of told) {
    logger.warn({ webhookId, notice: state, reason }, 'webhook notice recorded');
    if (state === 'WEBHOOK_DISABLED') metrics.webhooksDisabled.inc({ reason: reason ?? '' });
  }
  if (owing.length > 0) notify(dueSinceUnknown(owing));
}

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
