import { conflict, notFound } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import { isUniqueViolation, type Database } from '../platform/postgres.js';
import { hashPassword, newAccountKey, newLinkToken, sha256 } from './credentials.js';
import { insertPasswordLink, insertShipper, insertUser, shipperExists, userExists } from './store.js';

const linkLifetimeMs = 24 * 3_600_000;

/** Registers a shipper. The account key is shown here only. */
export async function registerShipper(
  db: Database,
  name: string,
): Promise<{ shipperId: string; accountKey: string }> {
  const shipperId = newId();
  const accountKey = newAccountKey();
  await insertShipper(db, { shipperId, name, accountKeyHash: sha256(accountKey) });
  return { shipperId, accountKey };
}

/** Registers a user, with a password or a link to set one. 404 without that shipper, 409 if the address is taken. */
export async function registerUser(
  db: Database,
  publicUrl: string,
  user: { shipperId: string; email: string; password?: string | undefined },
): Promise<{ userId: string; setPasswordUrl: string }> {
  if (!(await shipperExists(db, user.shipperId))) throw notFound('This shipper');
  const userId = newId();
  const passwordHash = user.password === undefined ? null : await hashPassword(user.password);
  const email = user.email.trim().toLowerCase();
  try {
    return await db.transaction(async (tx) => {
      await insertUser(tx, { userId, shipperId: user.shipperId, email, passwordHash });
      return { userId, setPasswordUrl: await newPasswordLink(tx, publicUrl, userId) };
    });
  } catch (error) {
    throw isUniqueViolation(error)
      ? conflict('The shipper has a user with this e-mail address already.')
      : error;
  }
}

/** A single-use link, good for 24 hours, at which the user sets a password. 404 without that user. */
export async function newPasswordLink(db: Database, publicUrl: string, userId: string): Promise<string> {
  if (!(await userExists(db, userId))) throw notFound('This user');
  const token = newLinkToken();
  await insertPasswordLink(db, sha256(token), userId, new Date(Date.now() + linkLifetimeMs));
  return `${publicUrl.replace(/\/$/, '')}/set-password?token=${token}`;
}
