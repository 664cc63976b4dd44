import type { Database } from '../platform/database/postgres.js';
import { type Actor } from './audit/audit.js';
/** The user, the password links and all tokens end. 404 without that user. */
export declare const removeUser: (db: Database, actor: Actor, userId: string) => Promise<void>;
/** All tokens of the user end; the password stays. 404 without that user. */
export declare const signOut: (db: Database, actor: Actor, userId: string) => Promise<void>;
