import type { Caller } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { networkOf } from '../http/origin.js';
import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/telemetry/logger.js';

export const auditActions = [
  'SHIPPER_CREATED',
  'SHIPPER_RENAMED',
  'SHIPPER_SUSPENDED',
  'SHIPPER_RESUMED',
  'SHIPPER_LIMITED',
  'SHIPPER_REMOVED',
  'ACCOUNT_KEY_ROTATED',
  'USER_CREATED',
  'USER_REMOVED',
  'USER_SIGNED_OUT',
  'SESSION_ENDED',
  'PASSWORD_LINK_CREATED',
  'PASSWORD_SET',
  'SUPPORT_LINK_CREATED',
  'SUPPORT_LINK_OPENED',
  'TOKEN_CREATED',
  'TOKEN_REVOKED',
  'WEBHOOK_CREATED',
  'WEBHOOK_UPDATED',
  'WEBHOOK_PAUSED',
  'WEBHOOK_RESUMED',
  'WEBHOOK_DISABLED',
  'WEBHOOK_DELETED',
  'WEBHOOK_SECRET_ROTATED',
  'WEBHOOK_SECRETS_ENDED',
  'REPLAY_REQUESTED',
  'REPLAY_CANCELLED',
  'SHIPMENT_ERASED',
  'ORDER_READ',
  'DELIVERY_READ',
  'DELIVERY_REDELIVERED',
  'SECRETS_RESEALED',
  'FEED_RENEWED',
  'LOGIN_REFUSED',
  'OPERATOR_REFUSED',
] as const;
export type AuditAction = (typeof auditActions)[number];

export const actorKinds = ['OPERATOR', 'USER', 'TOKEN', 'SERVICE', 'UNKNOWN'] as const;

/** `name` is an operator's name, or the id of a user or of a program's token, else null. `UNKNOWN` did not authenticate. */
export interface Actor {
  kind: (typeof actorKinds)[number];
  name: string | null;
  address: string | null;
}

export interface AuditEntry {
  action: AuditAction;
  shipperId?: string | null;
  userId?: string | null;
  webhookId?: string | null;
  shipmentId?: string | null;
  tokenId?: string | null;
  /** Names of the changed fields, never values. */
  fields?: string[];
}

export const service: Actor = { kind: 'SERVICE', name: null, address: null };

export function actorOf({ operator, program, support, userId, address }: Caller): Actor {
  const name = operator ?? support ?? null;
  if (name !== null) return { kind: 'OPERATOR', name, address };
  if (program) return { kind: 'TOKEN', name: program.tokenId, address };
  return { kind: 'USER', name: userId, address };
}

/** Call it in the transaction of the change. */
export const audit = (tx: Database, actor: Actor, entry: AuditEntry): Promise<void> =>
  auditAll(tx, actor, [entry]);

export const auditAll = (tx: Database, actor: Actor, entries: AuditEntry[]): Promise<void> =>
  append(
    tx,
    entries.map((entry) => ({ actor, entry, outcome: 'DONE', count: 1 })),
  );

/** Makes a change and its entry in one transaction. Writes nothing if `entryOf` returns null. */
export const audited = <Result>(
  db: Database,
  actor: Actor,
  work: (tx: Database) => Promise<Result>,
  entryOf: (result: Result) => AuditEntry | null,
): Promise<Result> =>
  db.transaction(async (tx) => {
    const result = await work(tx);
    const entry = entryOf(result);
    if (entry) await audit(tx, actor, entry);
    return result;
  });

interface AuditLine {
  actor: Actor;
  entry: AuditEntry;
  outcome: 'DONE' | 'REFUSED';
  /** How many refusals or changes this entry stands for. */
  count: number;
}

/**
 * Changes of one thing by one actor within a minute are one line, because no one may delete lines, and anyone may change a
 * description a hundred times a second. The lock on the changed row keeps two transactions from beginning a line each.
 */
async function append(db: Database, lines: AuditLine[]): Promise<void> {
  await db.query(
    'append-audit',
    `with given as (
       select action, outcome, kind as actor_kind, actor, address, "shipperId" as shipper_id, "userId" as user_id,
              "webhookId" as webhook_id, "shipmentId" as shipment_id, "tokenId" as token_id,
              coalesce(fields, '{}') as fields, count, place
         from json_to_recordset($1::json) as t (action text, outcome text, kind text, actor text, address text,
                "shipperId" uuid, "userId" uuid, "webhookId" uuid, "shipmentId" uuid, "tokenId" uuid, fields text[], count int, place int)
     ), same as (
       select place, fields, count, (
              select a.audit_id from audit a
               where a.audit_id >= uuid_floor(now() - interval '1 minute') and a.at > now() - interval '1 minute'
                 and a.outcome = 'DONE' and a.action = g.action and a.actor_kind = g.actor_kind
                 and (a.actor, a.address, a.shipper_id, a.user_id, a.webhook_id, a.shipment_id, a.token_id)
                     is not distinct from (g.actor, g.address, g.shipper_id, g.user_id, g.webhook_id, g.shipment_id, g.token_id)
               order by a.audit_id desc limit 1) as audit_id
         from given g where outcome = 'DONE'
     ), grown as (
       update audit a
          set count = a.count + s.count,
              fields = a.fields || array(select field from unnest(s.fields) field where field <> all (a.fields))
         from same s where a.audit_id = s.audit_id
       returning s.place
     )
     insert into audit (action, outcome, actor_kind, actor, address, shipper_id, user_id, webhook_id, shipment_id,
                        token_id, fields, count)
     select action, outcome, actor_kind, actor, address, shipper_id, user_id, webhook_id, shipment_id, token_id, fields,
            count
       from given where place not in (select place from grown)`,
    [
      JSON.stringify(
        lines.map(({ actor, entry, outcome, count }, place) => ({
          ...entry,
          place,
          outcome,
          count,
          kind: actor.kind,
          actor: actor.name,
          address: actor.address,
        })),
      ),
    ],
  );
}

const droppedPerStep = 1_000;

interface AuditFilter {
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
  trackingId: string | null;
  tokenId: string | null;
  fields: string[];
  count: number;
}

const columns = `audit_id as "auditId", at, action, outcome, actor_kind as "actorKind", actor, address,
  shipper_id as "shipperId", user_id as "userId", webhook_id as "webhookId", shipment_id as "shipmentId",
  (select tracking_id from shipments where shipment_id = audit.shipment_id) as "trackingId", token_id as "tokenId",
  fields, count`;

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

/** The time of the oldest entry (epoch); Infinity if there is none. */
export async function oldestAuditMs(db: Database): Promise<number> {
  const [oldest] = await db.query<{ at: Date }>(
    'oldest-audit',
    'select at from audit order by audit_id limit 1',
  );
  return oldest?.at.getTime() ?? Infinity;
}

export type Refusals = ReturnType<typeof createRefusals>;

const toBlock = (actor: Actor): Actor => ({
  ...actor,
  address: actor.address === null ? null : networkOf(actor.address),
});

const firstAfterMs = 1_000;
const everyMs = 60_000;
/** The limit per minute, action and kind of actor; further refusals share one entry without an address. */
const maxEntries = 10;

/**
 * Refusals are written once a minute, because callers can cause any number of them: an entry for each of the first ten
 * callers, and one for all others. Unknown callers take no entry from operators. The first refusal after a quiet minute
 * is written a second later. Refusals that cannot be written are kept for the next minute. Only the address block of an
 * unknown caller is stored.
 */
export function createRefusals(db: Database, logger: Logger) {
  let counted = new Map<string, AuditLine>();
  let timer: NodeJS.Timeout | undefined;
  let writtenAt = -Infinity;

  const add = (key: string, line: AuditLine) => {
    const known = counted.get(key);
    if (known) known.count += line.count;
    else counted.set(key, line);
  };
  const linesOf = ({ kind }: Actor, { action }: AuditEntry) =>
    [...counted.values()].filter(({ actor, entry }) => actor.kind === kind && entry.action === action).length;

  const count = (actor: Actor, entry: AuditEntry, times: number) => {
    const key = JSON.stringify([actor, entry]);
    if (counted.has(key) || linesOf(actor, entry) < maxEntries)
      return add(key, { actor, entry, outcome: 'REFUSED', count: times });
    const others: Actor = { kind: 'UNKNOWN', name: null, address: null };
    const line: AuditLine = {
      actor: others,
      entry: { action: entry.action },
      outcome: 'REFUSED',
      count: times,
    };
    add(entry.action, line);
  };

  const write = async () => {
    timer = undefined;
    if (counted.size === 0) return;
    const lines = [...counted.values()];
    counted = new Map();
    writtenAt = performance.now();
    try {
      await append(db, lines);
    } catch (error) {
      logger.warn(
        { error: describeError(error) },
        'refusals not written to the audit log; retrying in a minute',
      );
      for (const { actor, entry, count: times } of lines) count(actor, entry, times);
      schedule();
    }
  };

  const schedule = () => {
    timer ??= setTimeout(() => void write(), Math.max(firstAfterMs, writtenAt + everyMs - performance.now()));
  };

  return {
    /** Never waits, never throws. */
    note: (actor: Actor, entry: AuditEntry) => {
      count(actor.kind === 'UNKNOWN' ? toBlock(actor) : actor, entry, 1);
      schedule();
    },
    stop: async () => {
      clearTimeout(timer);
      await write();
      clearTimeout(timer);
    },
  };
}
