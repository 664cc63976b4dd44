import { notFound } from '../platform/errors.js';
import type { Database } from '../platform/database/postgres.js';
import { audit, type Actor, type AuditAction } from './audit/audit.js';
import { lockUser } from './passwords/password-store.js';
import { deleteUser, endTokens } from './user-store.js';

const change =
  (action: AuditAction, work: (tx: Database, userId: string) => Promise<void>) =>
  (db: Database, actor: Actor, userId: string): Promise<void> =>
    db.transaction(async (tx) => {
      const user = await lockUser(tx, userId);
      if (!user) throw notFound('This user');
      await work(tx, userId);
      await audit(tx, actor, { action, shipperId: user.shipperId, userId });
    });

/** The user, the password links and all tokens end. 404 without that user. */
export const removeUser = change('USER_REMOVED', deleteUser);

/** All tokens of the user end; the password stays. 404 without that user. */
export const signOut = change('USER_SIGNED_OUT', endTokens);
