import type { Database } from '../../platform/database/postgres.js';
/** Of whom the user is, null where there is none; the user stays as it is until the transaction ends. */
export declare function lockUser(tx: Database, userId: string): Promise<{
    shipperId: string;
} | null>;
/** Keeps a new link of the user; links that have expired go. */
export declare function insertPasswordLink(tx: Database, tokenHash: Buffer, userId: string, expiresAt: Date): Promise<void>;
/** Whose link it is, while it is good; null where it is void. */
export declare function findLinkOwner(db: Database, tokenHash: Buffer): Promise<string | null>;
/** Uses up a link. False where somebody else has. */
export declare function useUpLink(tx: Database, tokenHash: Buffer): Promise<boolean>;
/** Sets a password: the user's other links and all tokens are void. */
export declare function setPassword(tx: Database, userId: string, passwordHash: string): Promise<void>;
