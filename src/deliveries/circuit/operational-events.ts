import { newId } from '../../platform/ids.js';
import type { Database } from '../../platform/database/postgres.js';
import { oweAtOnce } from '../outbox/insert.js';
import { withoutQuerySql } from '../../webhooks/at-rest/at-rest.js';

/** Operational notifications a shipper's other webhooks may ask for by name (`*` does not include them). */
export const notices = ['WEBHOOK_DISABLED', 'WEBHOOK_FAILING', 'WEBHOOK_RECOVERED'] as const;

/** What the owner of a webhook is to be told about it. */
export interface Notice {
  webhookId: string;
  state: (typeof notices)[number];
  reason: string | null;
}

/**
 * Records notices about webhooks as events of no shipment, owed to the shipper's other webhooks that name them in their
 * interests. The body: `{state, webhook_id, target_address, reason, timestamp}`, the address without its query. To be
 * called in the transaction that changes the webhook: told if and only if it happened. Returns the webhooks that are
 * owed one.
 */
export async function recordNotices(tx: Database, about: Notice[]): Promise<string[]> {
  const now = new Date();
  const rows = await tx.query<{ webhook_id: string }>(
    'record-notices',
    `with about as (
       select i.event_id, i.state, i.reason, w.webhook_id, w.shipper_id, w.target_address
         from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as i (event_id, webhook_id, state, reason)
         join webhooks w on w.webhook_id = i.webhook_id
     ), recorded as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       select event_id, shipper_id, 1, state, $5,
              json_build_object('state', state, 'webhook_id', webhook_id, 'target_address', ${withoutQuerySql('target_address')},
                                'reason', reason, 'timestamp', $6::bigint)::text
         from about
     )
     ${oweAtOnce(`select a.shipper_id, a.event_id, w.webhook_id, a.state
                    from about a
                    join webhooks w on w.shipper_id = a.shipper_id and w.webhook_id <> a.webhook_id
                     and w.deleted_at is null and a.state = any(w.interests)`)}`,
    [
      about.map(() => newId(now.getTime())),
      about.map(({ webhookId }) => webhookId),
      about.map(({ state }) => state),
      about.map(({ reason }) => reason),
      now,
      now.getTime(),
    ],
  );
  return rows.map((row) => row.webhook_id);
}
