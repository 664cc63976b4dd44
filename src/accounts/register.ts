import { conflict, notFound } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import { isUniqueViolation, type Database } from '../platform/database/postgres.js';
import { audit, audited, type Actor } from './audit/audit.js';
import { hashPassword, newAccountKey, newLinkToken, sha256 } from './passwords/credentials.js';
import {
  findLinkOwner,
  insertPasswordLink,
  lockUser,
  setPassword,
  useUpLink,
} from './passwords/password-store.js';
import { holdShipper, insertShipper, insertUser } from './store.js';

const linkLifetimeMs = 24 * 3_600_000;

/** Registers a shipper. The account key is shown here only. */
export function registerShipper(
  db: Database,
  actor: Actor,
  name: string,
): Promise<{ shipperId: string; accountKey: string }> {
  const shipperId = newId();
  const accountKey = newAccountKey();
  const work = async (tx: Database) => {
    await insertShipper(tx, { shipperId, name, accountKeyHash: sha256(accountKey) });
    return { shipperId, accountKey };
  };
  return audited(db, actor, work, () => ({ action: 'SHIPPER_CREATED', shipperId }));
}

/** Registers a user, with a password or a link to set one. 404 without that shipper, 409 if the address is taken. */
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
      ? conflict('The shipper has a user with this e-mail address already.')
      : error;
  }
}

/** A single-use link, good for 24 hours, at which the user sets a password. 404 without that user. */
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

/**
 * Sets the password of who has the link and uses it up: of two at once, one wins. The user's other links and all tokens
 * are void then. False if the link is.
 */
export const redeemPasswordLink = (
  db: Database,
  address: string | null,
  tokenHash: Buffer,
  passwordHash: string,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const userId = await findLinkOwner(tx, tokenHash);
    const user = userId === null ? null : await lockUser(tx, userId);
    if (userId === null || !user || !(await useUpLink(tx, tokenHash))) return false;
    await setPassword(tx, userId, passwordHash);
    const actor: Actor = { kind: 'USER', name: userId, address };
    await audit(tx, actor, { action: 'PASSWORD_SET', shipperId: user.shipperId, userId });
    return true;
  });
