import type { Database } from '../platform/database/postgres.js';
export interface ListedUser {
    userId: string;
    email: string;
    /** False until a password was set. */
    hasPassword: boolean;
    createdAt: Date;
}
/** In the order of their registration, those after `afterId`. */
export declare const listUsers: (db: Database, shipperId: string, afterId: string | undefined, limit: number) => Promise<ListedUser[]>;
/** The user goes, with the links to set a password. */
export declare function deleteUser(tx: Database, userId: string): Promise<void>;
/** Every token of the user ends. */
export declare function endTokens(tx: Database, userId: string): Promise<void>;
