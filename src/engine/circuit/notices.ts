import { databaseNowMs } from '../../platform/clock.js';
import { rowSet } from '../../platform/database/parameters.js';
import type { Database } from '../../platform/database/postgres.js';
import { newId } from '../../platform/ids.js';
import { oweAtOnce } from '../outbox/insert.js';
import { withoutQuerySql } from '../send/sealing.js';

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
export async function recordNotices(tx: Database, about: Notice[]): Promise<string[]> {
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
