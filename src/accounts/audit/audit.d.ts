import type { Caller } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
/** What the audit log tells of. */
export declare const auditActions: readonly ['SHIPPER_CREATED', 'SHIPPER_RENAMED', 'SHIPPER_SUSPENDED', 'SHIPPER_RESUMED', 'SHIPPER_REMOVED', 'ACCOUNT_KEY_ROTATED', 'USER_CREATED', 'USER_REMOVED', 'USER_SIGNED_OUT', 'PASSWORD_LINK_CREATED', 'PASSWORD_SET', 'WEBHOOK_CREATED', 'WEBHOOK_UPDATED', 'WEBHOOK_DELETED', 'WEBHOOK_SECRET_ROTATED', 'REPLAY_CANCELLED', 'SECRETS_RESEALED', 'LOGIN_REFUSED', 'OPERATOR_REFUSED'];
export type AuditAction = (typeof auditActions)[number];
export declare const actorKinds: readonly ['OPERATOR', 'USER', 'SERVICE', 'UNKNOWN'];
/** Who did something: an operator by name, a user by id, the service itself, or somebody who did not prove it. */
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
    /** Names of what was changed, never values. */
    fields?: string[];
}
export declare const service: Actor;
export declare const actorOf: ({ operator, userId, address }: Caller) => Actor;
/** Writes one line of the audit log; to be called in the transaction of what it tells. */
export declare const audit: (tx: Database, actor: Actor, entry: AuditEntry) => Promise<void>;
/** Does `work` and tells of it in one transaction; of nothing where `entryOf` its result is null. */
export declare const audited: <Result>(db: Database, actor: Actor, work: (tx: Database) => Promise<Result>, entryOf: (result: Result) => AuditEntry | null) => Promise<Result>;
export interface AuditLine {
    actor: Actor;
    entry: AuditEntry;
    outcome: 'DONE' | 'REFUSED';
    /** How often, where refusals are told of together. */
    count: number;
}
export declare function append(db: Database, lines: AuditLine[]): Promise<void>;
