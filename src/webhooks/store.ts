import { isPausedByOperator, ms } from '../engine/engine.js';
import { isUuid } from '../http/request/paging.js';
import { notFound, unauthorized } from '../platform/errors.js';
import type { Database } from '../platform/database/postgres.js';
import { mayBeMailed } from './mails/addresses.js';
import type { WebhookChanges, WebhookInput } from './schema.js';

/** A webhook as stored: its address's query and its headers' values are sealed. */
export interface Webhook {
  webhookId: string;
  interests: string[];
  targetAddress: string;
  status: 'ACTIVE' | 'PAUSED' | 'DISABLED';
  disabledReason: string | null;
  name: string | null;
  ordering: 'SHIPMENT' | 'NONE';
  supersede: boolean;
  headers: Record<string, string>;
  description: string;
  maxPerSecond: number | null;
  notifyEmail: string | null;
  /** Null without an address. */
  notifyEmailConfirmed: boolean | null;
  createdAt: Date;
  updatedAt: Date;
  /** Null unless an operator has paused it. */
  pausedBy: 'OPERATOR' | null;
}

const columns = `webhook_id as "webhookId", interests, target_address as "targetAddress", status,
  case when status = 'DISABLED' then disabled_reason end as "disabledReason",
  name, ordering, supersede, headers, description, max_per_second as "maxPerSecond", notify_email as "notifyEmail",
  case when notify_email is not null then ${mayBeMailed('webhooks.shipper_id', 'webhooks.notify_email')} end as "notifyEmailConfirmed",
  created_at as "createdAt", updated_at as "updatedAt",
  case when ${isPausedByOperator('webhooks')} then 'OPERATOR' end as "pausedBy"`;

/** `FULL`: the shipper has as many as `limit`. */
export function insertWebhook(
  db: Database,
  shipperId: string,
  webhook: WebhookInput & { webhookId: string; sealedSecret: string },
  limit: number,
): Promise<Webhook | 'FULL' | 'NAME_TAKEN'> {
  return db.transaction(async (tx) => {
    // The lock makes concurrent creations count each other. Orders, which refer to the same row, do not wait for it.
    const [shipper] = await tx.query<{ status: string }>(
      'lock-shipper',
      'select status from shippers where shipper_id = $1 for no key update',
      [shipperId],
    );
    if (shipper?.status === 'REMOVED') throw unauthorized();
    const { name = null } = webhook;
    if (name !== null && (await findWebhookByName(tx, shipperId, name))) return 'NAME_TAKEN';
    const rows = await tx.query<Webhook>(
      'insert-webhook',
      `insert into webhooks (webhook_id, shipper_id, interests, target_address, status, ordering, supersede,
                             headers, description, secret, suspended, max_per_second, name, notify_email,
                             created_at, updated_at)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $12, $13, $14, $15, now(), now()
        where (select count(*) from webhooks where shipper_id = $2 and deleted_at is null) < $11
       returning ${columns}`,
      [
        webhook.webhookId,
        shipperId,
        webhook.interests,
        webhook.targetAddress,
        webhook.status ?? 'ACTIVE',
        webhook.ordering ?? 'SHIPMENT',
        webhook.supersede ?? false,
        JSON.stringify(webhook.headers ?? {}),
        webhook.description ?? '',
        webhook.sealedSecret,
        limit,
        shipper?.status === 'SUSPENDED',
        webhook.maxPerSecond ?? null,
        name,
        webhook.notifyEmail ?? null,
      ],
    );
    return rows[0] ?? 'FULL';
  });
}

export function listWebhooks(
  db: Database,
  shipperId: string,
  { status, only }: { status?: Webhook['status'] | undefined; only: string | null },
  afterId: string | undefined,
  limit: number,
) {
  return db.query<Webhook>(
    'list-webhooks',
    `select ${columns} from webhooks
      where shipper_id = $1 and deleted_at is null and webhook_id > coalesce($2::uuid, uuid_floor('epoch'))
        and ($4::text is null or status = $4) and ($5::uuid is null or webhook_id = $5)
      order by webhook_id limit $3`,
    [shipperId, afterId ?? null, limit, status ?? null, only],
  );
}

/** As stored, in order of creation. */
export const listAddresses = (db: Database, shipperId: string) =>
  db.query<Pick<Webhook, 'webhookId' | 'name' | 'description' | 'targetAddress'>>(
    'list-addresses',
    `select webhook_id as "webhookId", name, description, target_address as "targetAddress" from webhooks
      where shipper_id = $1 and deleted_at is null order by webhook_id`,
    [shipperId],
  );

/** Throws NOT_FOUND if the shipper has no such webhook. */
export async function findWebhook(db: Database, shipperId: string, webhookId: string): Promise<Webhook> {
  const [webhook] = isUuid(webhookId)
    ? await db.query<Webhook>(
        'find-webhook',
        `select ${columns} from webhooks where webhook_id = $2 and shipper_id = $1 and deleted_at is null`,
        [shipperId, webhookId],
      )
    : [];
  if (!webhook) throw notFound('This webhook');
  return webhook;
}

/** Null if the shipper has no webhook of this name. */
export async function findWebhookByName(
  db: Database,
  shipperId: string,
  name: string,
): Promise<{ webhook: Webhook; sealedSecret: string } | null> {
  const [row] = await db.query<Webhook & { sealedSecret: string }>(
    'find-webhook-by-name',
    `select ${columns}, secret as "sealedSecret" from webhooks
      where shipper_id = $1 and name = $2 and deleted_at is null`,
    [shipperId, name],
  );
  if (!row) return null;
  const { sealedSecret, ...webhook } = row;
  return { webhook, sealedSecret };
}

/** Null if there is no such webhook, or if it is deleted. */
export async function findShipperOfWebhook(db: Database, webhookId: string): Promise<string | null> {
  const [row] = await db.query<{ shipperId: string }>(
    'find-shipper-of-webhook',
    'select shipper_id as "shipperId" from webhooks where webhook_id = $1 and deleted_at is null',
    [webhookId],
  );
  return row?.shipperId ?? null;
}

export async function lockWebhook(
  tx: Database,
  shipperId: string,
  webhookId: string,
): Promise<Webhook | null> {
  const rows = await tx.query<Webhook>(
    'lock-webhook',
    `select ${columns} from webhooks
      where webhook_id = $2 and shipper_id = $1 and deleted_at is null for no key update`,
    [shipperId, webhookId],
  );
  return rows[0] ?? null;
}

/**
 * Null if there is no such webhook. Once it is ACTIVE, its held deliveries are due. A webhook that an operator has paused
 * and its shipper then pauses stays paused when the operator resumes it.
 */
export async function updateWebhook(
  db: Database,
  shipperId: string,
  webhookId: string,
  changes: WebhookChanges,
): Promise<Webhook | null> {
  const rows = await db.query<Webhook>(
    'update-webhook',
    `update webhooks
        set interests = coalesce($3, interests),
            target_address = coalesce($4, target_address),
            status = coalesce($5, status),
            disabled_reason = case when $5 is null then disabled_reason end,
            resumes_as = case when $5 is null then resumes_as when ${isPausedByOperator('webhooks')} and $5 = 'PAUSED' then $5 end,
            ordering = coalesce($6, ordering),
            supersede = coalesce($7, supersede),
            headers = coalesce($8, headers),
            description = coalesce($9, description),
            max_per_second = case when $10 then $11 else max_per_second end,
            notify_email = case when $12 then $13 else notify_email end,
            stopped_at = case when $5 <> 'ACTIVE' then now() else stopped_at end,
            called_since = case when $5 = 'ACTIVE' and status <> 'ACTIVE' then now() else called_since end,
            revision = revision + 1, updated_at = now()
      where webhook_id = $2 and shipper_id = $1 and deleted_at is null
      returning ${columns}`,
    [
      shipperId,
      webhookId,
      changes.interests ?? null,
      changes.targetAddress ?? null,
      changes.status ?? null,
      changes.ordering ?? null,
      changes.supersede ?? null,
      changes.headers ? JSON.stringify(changes.headers) : null,
      changes.description ?? null,
      changes.maxPerSecond !== undefined,
      changes.maxPerSecond ?? null,
      changes.notifyEmail !== undefined,
      changes.notifyEmail ?? null,
    ],
  );
  return rows[0] ?? null;
}

/** Remembers the status, for `resumeByOperator`. Null if there is no such webhook. */
export async function pauseByOperator(tx: Database, webhookId: string): Promise<Webhook | null> {
  const rows = await tx.query<Webhook>(
    'pause-by-operator',
    `update webhooks
        set resumes_as = case when ${isPausedByOperator('webhooks')} then resumes_as else status end, status = 'PAUSED',
            stopped_at = now(), revision = revision + 1, updated_at = now()
      where webhook_id = $1 and deleted_at is null
      returning ${columns}`,
    [webhookId],
  );
  return rows[0] ?? null;
}

/** The webhook gets the status that its shipper wants. Null unless an operator has paused it. */
export async function resumeByOperator(tx: Database, webhookId: string): Promise<Webhook | null> {
  const rows = await tx.query<Webhook>(
    'resume-by-operator',
    `update webhooks
        set status = resumes_as, resumes_as = null, revision = revision + 1, updated_at = now(),
            called_since = case when resumes_as = 'ACTIVE' then now() else called_since end
      where webhook_id = $1 and deleted_at is null and ${isPausedByOperator('webhooks')}
      returning ${columns}`,
    [webhookId],
  );
  return rows[0] ?? null;
}

export async function markDeleted(db: Database, shipperId: string, webhookId: string): Promise<boolean> {
  const rows = await db.query(
    'mark-deleted',
    `update webhooks set deleted_at = now(), stopped_at = now(), revision = revision + 1, updated_at = now()
      where webhook_id = $2 and shipper_id = $1 and deleted_at is null returning webhook_id`,
    [shipperId, webhookId],
  );
  return rows.length > 0;
}

const maxEarlierSecrets = 5;

/** The earlier secrets of webhook `w` that still sign, each with its `secret` and `until`. */
const signing = (w: string) =>
  `jsonb_array_elements(${w}.earlier_secrets) e where (e ->> 'until')::timestamptz > now()`;

/** When its secret was last rotated, and until when each earlier one signs, the first to end first. */
export async function findSecretTimes(
  db: Database,
  webhookId: string,
): Promise<{ rotatedAt: Date | null; earlierUntil: Date[] }> {
  const rows = await db.query<{ rotatedAt: Date | null; earlierUntil: Date[] }>(
    'find-secret-times',
    `select secret_rotated_at as "rotatedAt",
            array(select (e ->> 'until')::timestamptz as until from ${signing('webhooks')} order by until) as "earlierUntil"
       from webhooks where webhook_id = $1`,
    [webhookId],
  );
  return rows[0] ?? { rotatedAt: null, earlierUntil: [] };
}

/**
 * The current secret signs too for `overlapMs`, and each earlier one until its own time. `fullUntil`: nothing was done,
 * because that many earlier ones sign at least until then. Null if there is no webhook.
 */
export async function rotateSecret(
  db: Database,
  shipperId: string,
  webhookId: string,
  sealedSecret: string,
  overlapMs: number,
): Promise<{ validUntil: Date; fullUntil: null } | { validUntil: null; fullUntil: Date } | null> {
  const rows = await db.query<{ validUntil: Date; fullUntil: null } | { validUntil: null; fullUntil: Date }>(
    'rotate-secret',
    `with w as (
       select webhook_id, now() + ${ms('$4')} as until,
              (select jsonb_agg(e order by (e ->> 'until')::timestamptz) from ${signing('webhooks')}) as earlier
         from webhooks where webhook_id = $2 and shipper_id = $1 and deleted_at is null for no key update
     ), rotated as (
       update webhooks o
          set secret = $3, secret_rotated_at = now(), revision = revision + 1, updated_at = now(),
              earlier_secrets = coalesce(w.earlier, '[]') || case when $4::float8 > 0
                then jsonb_build_array(jsonb_build_object('secret', o.secret, 'until', w.until)) else '[]' end
         from w
        where o.webhook_id = w.webhook_id
          and ($4::float8 = 0 or coalesce(jsonb_array_length(w.earlier), 0) < ${maxEarlierSecrets})
       returning w.until
     )
     select r.until as "validUntil",
            case when r.until is null then (w.earlier -> 0 ->> 'until')::timestamptz end as "fullUntil"
       from w left join rotated r on true`,
    [shipperId, webhookId, sealedSecret, overlapMs],
  );
  return rows[0] ?? null;
}

/** Returns how many earlier secrets have signed until now; null if there is no webhook. */
export async function endEarlierSecrets(
  db: Database,
  shipperId: string,
  webhookId: string,
): Promise<number | null> {
  const rows = await db.query<{ ended: number }>(
    'end-earlier-secrets',
    `with w as (
       select webhook_id, (select count(*)::int from ${signing('webhooks')}) as ended
         from webhooks where webhook_id = $2 and shipper_id = $1 and deleted_at is null for no key update
     ), done as (
       update webhooks o set earlier_secrets = '[]', revision = revision + 1, updated_at = now()
         from w where o.webhook_id = w.webhook_id and w.ended > 0
     )
     select ended from w`,
    [shipperId, webhookId],
  );
  return rows[0]?.ended ?? null;
}

/** Locks in one order to prevent deadlocks. */
const changeAll =
  (name: string, changes: string) =>
  async (tx: Database, shipperId: string): Promise<void> => {
    await tx.query(
      name,
      `with w as materialized (
         select webhook_id from webhooks where shipper_id = $1 and deleted_at is null
          order by webhook_id for no key update
       )
       update webhooks set ${changes} where webhook_id = any(array(select webhook_id from w))`,
      [shipperId],
    );
  };

export const suspendWebhooks = changeAll('suspend-webhooks', 'suspended = true, stopped_at = now()');

/** Held deliveries become due; ORDER_HOLD counts from now. */
export const resumeWebhooks = changeAll('resume-webhooks', 'suspended = false, called_since = now()');

export const deleteWebhooks = changeAll(
  'delete-webhooks',
  'deleted_at = now(), stopped_at = now(), revision = revision + 1, updated_at = now()',
);

/** All secrets that sign, as stored, of the webhooks whose target address has this path. */
export const readSecrets = (db: Database, shipperId: string, path: string) =>
  db.query<{ webhookId: string; secret: string }>(
    'read-secrets',
    `select w.webhook_id as "webhookId", s.secret
       from webhooks w
      cross join lateral (
        select w.secret union all select e ->> 'secret' from ${signing('w')}) s (secret)
      where w.shipper_id = $1 and w.deleted_at is null and strpos(w.target_address, $2) > 0`,
    [shipperId, path],
  );

export async function listWebhookIds(db: Database, shipperId: string): Promise<string[]> {
  const rows = await db.query<{ webhook_id: string }>(
    'webhooks-of-shipper',
    'select webhook_id from webhooks where shipper_id = $1 and deleted_at is null',
    [shipperId],
  );
  return rows.map((row) => row.webhook_id);
}
