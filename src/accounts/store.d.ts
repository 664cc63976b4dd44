import type { Database } from '../platform/database/postgres.js';
export interface User {
    userId: string;
    userEpoch: number;
    shipperId: string;
    shipperEpoch: number;
    shipperStatus: 'ACTIVE' | 'SUSPENDED';
    passwordHash: string | null;
}
export declare function insertShipper(db: Database, shipper: {
    shipperId: string;
    name: string;
    accountKeyHash: Buffer;
}): Promise<void>;
/** Whether there is such a shipper; it is not removed before the transaction ends. */
export declare function holdShipper(tx: Database, shipperId: string): Promise<boolean>;
export declare function accountKeyExists(db: Database, accountKeyHash: Buffer): Promise<boolean>;
/** Throws a unique violation where the shipper already has a user of that address. */
export declare function insertUser(db: Database, user: {
    userId: string;
    shipperId: string;
    email: string;
    passwordHash: string | null;
}): Promise<void>;
/** Null where there is no account of that key. `trusted`: the user logged in from that origin in the last 30 days. */
export declare function findUserByLogin(db: Database, accountKeyHash: Buffer, email: string, origin: string): Promise<{
    user: User | null;
    trusted: boolean;
} | null>;
/** Notes that the user logged in from there: at most once a day, and of so many origins the latest. */
export declare function rememberOrigin(db: Database, userId: string, origin: string): Promise<void>;
