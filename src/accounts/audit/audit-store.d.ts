import type { Database } from '../../platform/database/postgres.js';
import type { AuditAction } from './audit.js';
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
    fields: string[];
    count: number;
}
/** Newest first, those before `beforeId`. */
export declare const listAudit: (db: Database, filter: AuditFilter, beforeId: string | undefined, limit: number) => Promise<AuditRow[]>;
