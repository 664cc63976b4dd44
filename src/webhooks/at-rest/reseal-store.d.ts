import type { Database } from '../../platform/database/postgres.js';
import { type OwnHeaders } from './at-rest.js';
/** What a webhook keeps sealed, as it is stored. */
export interface Sealed {
    webhookId: string;
    secret: string;
    previousSecret: string | null;
    targetAddress: string;
    headers: OwnHeaders;
}
/** Webhooks after `afterId`, deleted ones too, of which something is not sealed or not with this prefix. */
export declare function listForeign(db: Database, prefix: string, afterId: string | null, limit: number): Promise<Sealed[]>;
/** Puts what was sealed anew in place, but not where it was changed meanwhile. Answers how many webhooks. */
export declare function replaceSealed(db: Database, changes: {
    before: Sealed;
    after: Sealed;
}[]): Promise<number>;
