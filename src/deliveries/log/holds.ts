import type { Database } from '../../platform/postgres.js';

/** Why a shipper's webhooks are not called now, those of which that is so. */
export type Holds = Map<string, { heldBy: 'PAUSED' | 'DISABLED' | 'CIRCUIT'; nextProbeAt: Date | null }>;

export async function findHolds(db: Database, shipperId: string): Promise<Holds> {
  const rows = await db.query<{ webhookId: string; status: string; nextProbeAt: Date | null }>(
    'find-holds',
    `select w.webhook_id as "webhookId", w.status, c.open_until as "nextProbeAt"
       from webhooks w
       left join lateral (
         select open_until from circuits where webhook_id = w.webhook_id and open_until is not null limit 1) c on true
      where w.shipper_id = $1 and w.deleted_at is null and (w.status <> 'ACTIVE' or c.open_until is not null)`,
    [shipperId],
  );
  return new Map(
    rows.map(({ webhookId, status, nextProbeAt }) => [
      webhookId,
      status === 'ACTIVE'
        ? { heldBy: 'CIRCUIT', nextProbeAt }
        : { heldBy: status as 'PAUSED' | 'DISABLED', nextProbeAt: null },
    ]),
  );
}

/** What holds a delivery: its webhook before its turn. */
export const holdOf = (holds: Holds, webhookId: string, waitsTurn: boolean) =>
  holds.get(webhookId) ?? { heldBy: waitsTurn ? 'TURN' : null, nextProbeAt: null };
