import type { Database } from '../platform/database/postgres.js';

export interface User {
  userId: string;
  userEpoch: number;
  shipperId: string;
  shipperEpoch: number;
  shipperStatus: 'ACTIVE' | 'SUSPENDED';
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

/** Whether there is such a shipper; it is not removed before the transaction ends. */
export async function holdShipper(tx: Database, shipperId: string): Promise<boolean> {
  const rows = await tx.query(
    'hold-shipper',
    `select 1 from shippers where shipper_id = $1 and status <> 'REMOVED' for share`,
    [shipperId],
  );
  return rows.length > 0;
}

/** The account keys that are good: of every shipper its own, and for a while the one before. */
const hasKey = (hash: string) =>
  `(account_key_hash = ${hash} or previous_key_hash = ${hash} and previous_key_until > now()) and status <> 'REMOVED'`;

export async function accountKeyExists(db: Database, accountKeyHash: Buffer): Promise<boolean> {
  const rows = await db.query('account-key-exists', `select 1 from shippers where ${hasKey('$1')}`, [
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

/** Null where there is no account of that key. `trusted`: the user logged in from that origin in the last 30 days. */
export async function findUserByLogin(
  db: Database,
  accountKeyHash: Buffer,
  email: string,
  origin: string,
): Promise<{ user: User | null; trusted: boolean } | null> {
  const rows = await db.query<User & { userId: string | null; trusted: boolean }>(
    'find-user-by-login',
    `select u.user_id as "userId", u.epoch as "userEpoch", s.shipper_id as "shipperId", s.epoch as "shipperEpoch",
            s.status as "shipperStatus", u.password_hash as "passwordHash",
            exists (select 1 from login_origins o
                     where o.user_id = u.user_id and o.origin = $3 and o.seen_at > now() - interval '30 days') as trusted
       from shippers s
       left join lateral (
         select user_id, epoch, password_hash from users where shipper_id = s.shipper_id and email = $2 limit 1) u on true
      where ${hasKey('$1')}`,
    [accountKeyHash, email, origin],
  );
  const [row] = rows;
  if (!row) return null;
  const { trusted, ...user } = row;
  return { user: user.userId === null ? null : user, trusted };
}

const originsPerUser = 100;

/**
 * Notes that the user logged in from there: at most once a day, and of so many origins the latest. False where the user
 * has been removed meanwhile. Logins of one user take turns here, and with the removal.
 */
export async function rememberOrigin(db: Database, userId: string, origin: string): Promise<boolean> {
  const rows = await db.query(
    'remember-login-origin',
    `with present as materialized (
       select user_id from users where user_id = $1 for no key update
     ), old as (
       -- By its own time, which is looked at anew where another login has just changed it.
       delete from login_origins
        where user_id = $1 and origin <> $2 and seen_at < greatest(now() - interval '30 days', (
          select seen_at from login_origins where user_id = $1 and origin <> $2
           order by seen_at desc offset $3 limit 1))
     ), noted as (
       insert into login_origins (user_id, origin, seen_at) select user_id, $2, now() from present
       on conflict (user_id, origin) do update set seen_at = now()
        where login_origins.seen_at < now() - interval '1 day'
     )
     select 1 from present`,
    [userId, origin, originsPerUser - 2],
  );
  return rows.length > 0;
}
