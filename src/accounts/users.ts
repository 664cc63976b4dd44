import { isUniqueViolation, type Database } from '../platform/database/postgres.js';
import { conflict, notFound } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import { audit, type Actor, type AuditAction } from './audit/audit.js';
import { hashPassword, newLinkToken, sha256 } from './credentials.js';
import { holdShipper } from './shipper-store.js';
import {
  findLinkOwner,
  insertPasswordLink,
  lockUser,
  setPassword,
  useUpLink,
  insertUser,
  deleteUser,
  endTokens,
} from './user-store.js';

const linkLifetimeMs = 24 * 3_600_000;

/** 404 if the shipper does not exist, 409 if the address is taken. */
export async function registerUser(
  db: Database,
  publicUrl: string,
  actor: Actor,
  user: { shipperId: string; email: string; password?: string | undefined },
): Promise<{ userId: string; setPasswordUrl: string }> {
  const { shipperId } = user;
  const userId = newId();
  const passwordHash = user.password === undefined ? null : await hashPassword(user.password);
  const email = user.email.trim().toLowerCase();
  try {
    return await db.transaction(async (tx) => {
      if (!(await holdShipper(tx, shipperId))) throw notFound('This shipper');
      await insertUser(tx, { userId, shipperId, email, passwordHash });
      await audit(tx, actor, { action: 'USER_CREATED', shipperId, userId });
      return { userId, setPasswordUrl: await insertLink(tx, publicUrl, userId) };
    });
  } catch (error) {
    throw isUniqueViolation(error)
      ? conflict('The shipper already has a user with this e-mail address.')
      : error;
  }
}

/** Single-use, valid for 24 hours. 404 if there is no such user. */
export const newPasswordLink = (
  db: Database,
  publicUrl: string,
  actor: Actor,
  userId: string,
): Promise<string> =>
  db.transaction(async (tx) => {
    const user = await lockUser(tx, userId);
    if (!user) throw notFound('This user');
    await audit(tx, actor, { action: 'PASSWORD_LINK_CREATED', shipperId: user.shipperId, userId });
    return insertLink(tx, publicUrl, userId);
  });

async function insertLink(tx: Database, publicUrl: string, userId: string): Promise<string> {
  const token = newLinkToken();
  await insertPasswordLink(tx, sha256(token), userId, new Date(Date.now() + linkLifetimeMs));
  return `${publicUrl.replace(/\/$/, '')}/set-password?token=${token}`;
}

/** One of two concurrent calls wins. Ends the user's other links and all tokens. False if the link is void. */
export const redeemPasswordLink = (
  db: Database,
  address: string | null,
  tokenHash: Buffer,
  passwordHash: string,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const userId = (await findLinkOwner(tx, tokenHash))?.userId;
    const user = userId === undefined ? null : await lockUser(tx, userId);
    if (userId === undefined || !user || !(await useUpLink(tx, tokenHash))) return false;
    await setPassword(tx, userId, passwordHash);
    const actor: Actor = { kind: 'USER', name: userId, address };
    await audit(tx, actor, { action: 'PASSWORD_SET', shipperId: user.shipperId, userId });
    return true;
  });

const change =
  (action: AuditAction, work: (tx: Database, userId: string) => Promise<void>) =>
  (db: Database, actor: Actor, userId: string): Promise<void> =>
    db.transaction(async (tx) => {
      const user = await lockUser(tx, userId);
      if (!user) throw notFound('This user');
      await work(tx, userId);
      await audit(tx, actor, { action, shipperId: user.shipperId, userId });
    });

/** Also ends the user's password links and tokens. 404 if there is no such user. */
export const removeUser = change('USER_REMOVED', deleteUser);

/** The password stays valid. 404 if there is no such user. */
export const signOut = change('USER_SIGNED_OUT', endTokens);
