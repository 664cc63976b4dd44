import type { Database } from '../../platform/database/postgres.js';

/** Of whom the user is, null where there is none; the user stays as it is until the transaction ends. */
export async function lockUser(tx: Database, userId: string): Promise<{ shipperId: string } | null> {
  const rows = await tx.query<{ shipperId: string }>(
    'lock-user',
    `select u.shipper_id as "shipperId" from users u join shippers s using (shipper_id)
      where u.user_id = $1 and s.status <> 'REMOVED' for no key update of u`,
    [userId],
  );
  return rows[0] ?? null;
}

/** Keeps a new link of the user; links that have expired go. */
export async function insertPasswordLink(
  tx: Database,
  tokenHash: Buffer,
  userId: string,
  expiresAt: Date,
): Promise<void> {
  await tx.query(
    'insert-password-link',
    `with expired as (delete from password_links where user_id = $2 and expires_at < now())
     insert into password_links (token_hash, user_id, expires_at) values ($1, $2, $3)`,
    [tokenHash, userId, expiresAt],
  );
}

/** Whose link it is, while it is good; null where it is void. */
export async function findLinkOwner(db: Database, tokenHash: Buffer): Promise<string | null> {
  const rows = await db.query<{ userId: string }>(
    'find-link-owner',
    `select l.user_id as "userId" from password_links l
       cross join lateral (select shipper_id from users where user_id = l.user_id limit 1) u
       cross join lateral (select status from shippers where shipper_id = u.shipper_id limit 1) s
      where l.token_hash = $1 and l.expires_at > now() and s.status <> 'REMOVED'`,
    [tokenHash],
  );
  return rows[0]?.userId ?? null;
}

/** Uses up a link. False where somebody else has. */
export async function useUpLink(tx: Database, tokenHash: Buffer): Promise<boolean> {
  const rows = await tx.query(
    'use-up-link',
    'delete from password_links where token_hash = $1 and expires_at > now() returning 1',
    [tokenHash],
  );
  return rows.length > 0;
}

/** Sets a password: the user's other links and all tokens are void. */
export async function setPassword(tx: Database, userId: string, passwordHash: string): Promise<void> {
  await tx.query('void-links', 'delete from password_links where user_id = $1', [userId]);
  await tx.query(
    'set-password',
    'update users set password_hash = $2, epoch = epoch + 1 where user_id = $1',
    [userId, passwordHash],
  );
}
