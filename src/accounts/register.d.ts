import { type Database } from '../platform/database/postgres.js';
import { type Actor } from './audit/audit.js';
/** Registers a shipper. The account key is shown here only. */
export declare function registerShipper(db: Database, actor: Actor, name: string): Promise<{
    shipperId: string;
    accountKey: string;
}>;
/** Registers a user, with a password or a link to set one. 404 without that shipper, 409 if the address is taken. */
export declare function registerUser(db: Database, publicUrl: string, actor: Actor, user: {
    shipperId: string;
    email: string;
    password?: string | undefined;
}): Promise<{
    userId: string;
    setPasswordUrl: string;
}>;
/** A single-use link, good for 24 hours, at which the user sets a password. 404 without that user. */
export declare const newPasswordLink: (db: Database, publicUrl: string, actor: Actor, userId: string) => Promise<string>;
/**
 * Sets the password of who has the link and uses it up: of two at once, one wins. The user's other links and all tokens
 * are void then. False if the link is.
 */
export declare const redeemPasswordLink: (db: Database, address: string | null, tokenHash: Buffer, passwordHash: string) => Promise<boolean>;
