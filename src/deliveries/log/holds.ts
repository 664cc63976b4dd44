import type { Database } from '../../platform/database/postgres.js';
import { isCallable } from '../outbox/sql.js';

/** What holds a delivery: an earlier state of its shipment, or that its webhook is not called. */
export const holders = ['TURN', 'CIRCUIT', 'PAUSED', 'DISABLED', 'SUSPENDED'] as const;
type HeldBy = Exclude<(typeof holders)[number], 'TURN'>;

/** Why a shipper's webhooks are not called now, those of which that is so. */
export type Holds = Map<string, { heldBy: HeldBy; nextProbeAt: Date | null }>;

export async function findHolds(db: Database, shipperId: string): Promise<Holds> {
  const rows = await db.query<{ webhookId: string; heldBy: HeldBy; nextProbeAt: Date | null }>(
    'find-holds',
    `select w.webhook_id as "webhookId", c.open_until as "nextProbeAt",
            case when w.suspended then 'SUSPENDED' when w.status <> 'ACTIVE' then w.status else 'CIRCUIT' end as "heldBy"
       from webhooks w
       left join lateral (
         select open_until from circuits where webhook_id = w.webhook_id and open_until is not null limit 1) c on true
      where w.shipper_id = $1 and w.deleted_at is null and not ${isCallable('w')}`,
    [shipperId],
  );
  return new Map(
    rows.map(({ webhookId, heldBy, nextProbeAt }) => [
      webhookId,
      { heldBy, nextProbeAt: heldBy === 'CIRCUIT' ? nextProbeAt : null },
    ]),
  );
}

/** What holds a delivery: its webhook before its turn. */
export const holdOf = (holds: Holds, webhookId: string, waitsTurn: boolean) =>
  holds.get(webhookId) ?? { heldBy: waitsTurn ? 'TURN' : null, nextProbeAt: null };
