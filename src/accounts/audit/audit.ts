import type { Caller } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';

export const auditActions = [
  'SHIPPER_CREATED',
  'SHIPPER_RENAMED',
  'SHIPPER_SUSPENDED',
  'SHIPPER_RESUMED',
  'SHIPPER_REMOVED',
  'ACCOUNT_KEY_ROTATED',
  'USER_CREATED',
  'USER_REMOVED',
  'USER_SIGNED_OUT',
  'PASSWORD_LINK_CREATED',
  'PASSWORD_SET',
  'WEBHOOK_CREATED',
  'WEBHOOK_UPDATED',
  'WEBHOOK_DISABLED',
  'WEBHOOK_DELETED',
  'WEBHOOK_SECRET_ROTATED',
  'REPLAY_CANCELLED',
  'SHIPMENT_ERASED',
  'DELIVERY_READ',
  'SECRETS_RESEALED',
  'FEED_RENEWED',
  'LOGIN_REFUSED',
  'OPERATOR_REFUSED',
] as const;
export type AuditAction = (typeof auditActions)[number];

export const actorKinds = ['OPERATOR', 'USER', 'SERVICE', 'UNKNOWN'] as const;

/** `name` is an operator's name or a user's id, else null. `UNKNOWN` did not authenticate. */
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
  /** Names of the changed fields, never values. */
  fields?: string[];
}

export const service: Actor = { kind: 'SERVICE', name: null, address: null };

export const actorOf = ({ operator, userId, address }: Caller): Actor =>
  operator === null ? { kind: 'USER', name: userId, address } : { kind: 'OPERATOR', name: operator, address };

/** Call it in the transaction of the change. */
export const audit = (tx: Database, actor: Actor, entry: AuditEntry): Promise<void> =>
  auditAll(tx, actor, [entry]);

/** Call it in the transaction of the changes. */
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

export interface AuditLine {
  actor: Actor;
  entry: AuditEntry;
  outcome: 'DONE' | 'REFUSED';
  /** Refusals that this entry stands for. */
  count: number;
}

export async function append(db: Database, lines: AuditLine[]): Promise<void> {
  await db.query(
    'append-audit',
    `insert into audit (action, outcome, actor_kind, actor, address, shipper_id, user_id, webhook_id, shipment_id,
                        fields, count)
     select action, outcome, kind, actor, address, "shipperId", "userId", "webhookId", "shipmentId",
            coalesce(fields, '{}'), count
       from json_to_recordset($1::json) as t (action text, outcome text, kind text, actor text, address text,
              "shipperId" uuid, "userId" uuid, "webhookId" uuid, "shipmentId" uuid, fields text[], count int)`,
    [
      JSON.stringify(
        lines.map(({ actor, entry, outcome, count }) => ({
          ...entry,
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
