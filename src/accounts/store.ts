import type { Database } from '../platform/postgres.js';

export interface User {
  userId: string;
  shipperId: string;
  passwordHash: string | null;
}

export async function insertShipper(
  db: Database,
  shipper: { shipperId: string; name: string; accountKeyHash: Buffer },
): Promise<void> {
  await db.query(
    'insert-shipper',
    'insert into shippers (shipper_id, name, account_key_hash) values ($1, $2, $3)',
    [shipper.shipperId, shipper.name, shipper.accountKeyHash],
  );
}

export async function shipperExists(db: Database, shipperId: string): Promise<boolean> {
  const rows = await db.query('shipper-exists', 'select 1 from shippers where shipper_id = $1', [shipperId]);
  return rows.length > 0;
}

export async function accountKeyExists(db: Database, accountKeyHash: Buffer): Promise<boolean> {
  const rows = await db.query('account-key-exists', 'select 1 from shippers where account_key_hash = $1', [
    accountKeyHash,
  ]);
  return rows.length > 0;
}

/** Throws a unique violation where the shipper already has a user of that address. */
export async function insertUser(
  db: Database,
  user: { userId: string; shipperId: string; email: string; passwordHash: string | null },
): Promise<void> {
  await db.query(
    'insert-user',
    'insert into users (user_id, shipper_id, email, password_hash) values ($1, $2, $3, $4)',
    [user.userId, user.shipperId, user.email, user.passwordHash],
  );
}

export async function userExists(db: Database, userId: string): Promise<boolean> {
  return (await db.query('user-exists', 'select 1 from users where user_id = $1', [userId])).length > 0;
}

export async function findUserByLogin(
  db: Database,
  accountKeyHash: Buffer,
  email: string,
): Promise<User | null> {
  const rows = await db.query<User>(
    'find-user-by-login',
    `select user_id as "userId", shipper_id as "shipperId", password_hash as "passwordHash"
       from users join shippers using (shipper_id)
      where account_key_hash = $1 and email = $2`,
    [accountKeyHash, email],
  );
  return rows[0] ?? null;
}

/** Keeps a new link of the user; links that have expired go. */
export async function insertPasswordLink(db: Database, tokenHash: Buffer, userId: string, expiresAt: Date) {
  await db.query(
    'insert-password-link',
    `with expired as (delete from password_links where user_id = $2 and expires_at < now())
     insert into password_links (token_hash, user_id, expires_at) values ($1, $2, $3)`,
    [tokenHash, userId, expiresAt],
  );
}

export async function passwordLinkIsValid(db: Database, tokenHash: Buffer): Promise<boolean> {
  const rows = await db.query(
    'password-link-is-valid',
    'select 1 from password_links where token_hash = $1 and expires_at > now()',
    [tokenHash],
  );
  return rows.length > 0;
}

/** Sets the password and uses up the link, in one statement: of two at once, one wins. False if the link is void. */
export async function redeemPasswordLink(
  db: Database,
  tokenHash: Buffer,
  passwordHash: string,
): Promise<boolean> {
  const rows = await db.query(
    'redeem-password-link',
    `with link as (
       delete from password_links where token_hash = $1 and expires_at > now() returning user_id
     )
     update users set password_hash = $2 from link where users.user_id = link.user_id returning users.user_id`,
    [tokenHash, passwordHash],
  );
  return rows.length > 0;
}
