import type { Database } from '../../platform/database/postgres.js';
import type { AuditAction } from './audit.js';

const droppedPerStep = 1_000;

export interface AuditFilter {
  shipperId?: string | undefined;
  userId?: string | undefined;
  webhookId?: string | undefined;
  actor?: string | undefined;
  action?: AuditAction | undefined;
  outcome?: 'DONE' | 'REFUSED' | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

export interface AuditRow {
  auditId: string;
  at: Date;
  action: AuditAction;
  outcome: 'DONE' | 'REFUSED';
  actorKind: string;
  actor: string | null;
  address: string | null;
  shipperId: string | null;
  userId: string | null;
  webhookId: string | null;
  shipmentId: string | null;
  fields: string[];
  count: number;
}

const columns = `audit_id as "auditId", at, action, outcome, actor_kind as "actorKind", actor, address,
  shipper_id as "shipperId", user_id as "userId", webhook_id as "webhookId", shipment_id as "shipmentId", fields, count`;

/** Newest first. */
export const listAudit = (
  db: Database,
  filter: AuditFilter,
  beforeId: string | undefined,
  limit: number,
): Promise<AuditRow[]> =>
  db.query<AuditRow>(
    `list-audit-${filter.shipperId === undefined ? 'all' : 'shipper'}`,
    `select ${columns} from audit
      where ${filter.shipperId === undefined ? '$1::uuid is null' : 'shipper_id = $1'}
        and audit_id < least($9::uuid, uuid_floor($8::timestamptz + interval '1 ms'))
        and audit_id >= uuid_floor(coalesce($7::timestamptz, 'epoch'))
        and ($2::uuid is null or user_id = $2) and ($3::uuid is null or webhook_id = $3)
        and ($4::text is null or actor = $4) and ($5::text is null or action = $5)
        and ($6::text is null or outcome = $6)
      order by audit_id desc limit $10`,
    [
      filter.shipperId ?? null,
      filter.userId ?? null,
      filter.webhookId ?? null,
      filter.actor ?? null,
      filter.action ?? null,
      filter.outcome ?? null,
      filter.from ?? null,
      filter.to ?? new Date('9999-12-31T00:00:00Z'),
      beforeId ?? null,
      limit,
    ],
  );

/** Up to 1,000, oldest first. Returns whether there may be more. */
export async function dropOldAudit(db: Database, retentionMs: number): Promise<boolean> {
  const [row] = await db.query<{ dropped: number }>(
    'drop-old-audit',
    `with dropped as (
       delete from audit where audit_id in (
         select audit_id from audit where audit_id < uuid_floor(now() - $1::float8 * interval '1 ms')
          order by audit_id limit $2)
       returning 1)
     select count(*)::int as dropped from dropped`,
    [retentionMs, droppedPerStep],
  );
  return row!.dropped === droppedPerStep;
}

/** Epoch; Infinity without entries. */
export async function oldestAuditMs(db: Database): Promise<number> {
  const [oldest] = await db.query<{ at: Date }>(
    'oldest-audit',
    'select at from audit order by audit_id limit 1',
  );
  return oldest?.at.getTime() ?? Infinity;
}
