import { isUniqueViolation, type Database } from '../platform/database/postgres.js';
import { oweMail } from '../mail/store.js';
import { conflict, notFound } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import { audit, type Actor, type AuditAction } from './audit.js';
import { hashPassword, newLinkToken, sha256 } from './credentials.js';
import { holdShipper, keyMatches } from './shippers.js';

const linkLifetimeMs = 24 * 3_600_000;

export interface Links {
  publicUrl: string;
  cell: string | undefined;
}

/** A new user gets a link by e-mail, too, if `mails` is true. */
export interface NewUserLinks extends Links {
  mails: boolean;
}

export async function registerUser(
  db: Database,
  links: NewUserLinks,
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
      await tx.query(
        'insert-user',
        'insert into users (user_id, shipper_id, email, password_hash) values ($1, $2, $3, $4)',
        [userId, shipperId, email, passwordHash],
      );
      await audit(tx, actor, { action: 'USER_CREATED', shipperId, userId });
      if (links.mails) await oweMail(tx, { kind: 'WELCOME', userId });
      return { userId, setPasswordUrl: await insertLink(tx, links, userId) };
    });
  } catch (error) {
    throw isUniqueViolation(error)
      ? conflict('The shipper already has a user with this e-mail address.')
      : error;
  }
}

/** Single-use, valid for 24 hours. 404 if there is no such user. */
export const newPasswordLink = (db: Database, links: Links, actor: Actor, userId: string): Promise<string> =>
  db.transaction(async (tx) => {
    const user = await lockUser(tx, userId);
    if (!user) throw notFound('This user');
    await audit(tx, actor, { action: 'PASSWORD_LINK_CREATED', shipperId: user.shipperId, userId });
    return insertLink(tx, links, userId);
  });

/** The token goes into the link; only its hash is stored. */
export function newLink({ cell }: Links): { token: string; tokenHash: Buffer; expiresAt: Date } {
  const token = newLinkToken(cell);
  return { token, tokenHash: sha256(token), expiresAt: new Date(Date.now() + linkLifetimeMs) };
}

/** Lock the user first, or have made it in the same transaction. */
export async function insertLink(tx: Database, links: Links, userId: string): Promise<string> {
  const { token, tokenHash, expiresAt } = newLink(links);
  await tx.query(
    'insert-password-link',
    `with expired as (delete from password_links where user_id = $2 and expires_at < now())
     insert into password_links (token_hash, user_id, expires_at) values ($1, $2, $3)`,
    [tokenHash, userId, expiresAt],
  );
  return `${links.publicUrl}/set-password?token=${token}`;
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
    if (userId === undefined || !user) return false;
    const used = await tx.query(
      'use-up-link',
      'delete from password_links where token_hash = $1 and expires_at > now() returning 1',
      [tokenHash],
    );
    if (used.length === 0) return false;
    const actor: Actor = { kind: 'USER', name: userId, address };
    await setPassword(tx, actor, { userId, shipperId: user.shipperId }, passwordHash);
    return true;
  });

/** Ends the user's links and all tokens. Returns the new epoch; null if the user is gone, or has another epoch now. */
export const changePassword = (
  db: Database,
  actor: Actor,
  { userId, userEpoch, shipperId }: Pick<User, 'userId' | 'userEpoch' | 'shipperId'>,
  passwordHash: string,
): Promise<number | null> =>
  db.transaction(async (tx) => {
    if ((await lockUser(tx, userId))?.epoch !== userEpoch) return null;
    return setPassword(tx, actor, { userId, shipperId }, passwordHash);
  });

/** Lock the user first. */
async function setPassword(
  tx: Database,
  actor: Actor,
  user: { userId: string; shipperId: string },
  passwordHash: string,
): Promise<number> {
  await voidLinks(tx, user.userId);
  const [row] = await tx.query<{ epoch: number }>(
    'set-password',
    'update users set password_hash = $2, epoch = epoch + 1 where user_id = $1 returning epoch',
    [user.userId, passwordHash],
  );
  await audit(tx, actor, { action: 'PASSWORD_SET', ...user });
  return row!.epoch;
}

const change =
  (action: AuditAction, work: (tx: Database, userId: string) => Promise<unknown>) =>
  (db: Database, actor: Actor, userId: string): Promise<void> =>
    db.transaction(async (tx) => {
      const user = await lockUser(tx, userId);
      if (!user) throw notFound('This user');
      await work(tx, userId);
      await audit(tx, actor, { action, shipperId: user.shipperId, userId });
    });

/** Removes the user and ends its password links and tokens. 404 if there is no such user. */
export const removeUser = change('USER_REMOVED', async (tx, userId) => {
  await voidLinks(tx, userId);
  await tx.query('delete-user', 'delete from users where user_id = $1', [userId]);
});

/** The password stays valid. 404 if there is no such user. */
export const signOut = change('USER_SIGNED_OUT', (tx, userId) =>
  tx.query('end-tokens', 'update users set epoch = epoch + 1 where user_id = $1', [userId]),
);

export interface User {
  userId: string;
  userEpoch: number;
  shipperId: string;
  shipperEpoch: number;
  shipperName: string;
  shipperStatus: 'ACTIVE' | 'SUSPENDED';
  passwordHash: string | null;
}

/** Null if no account has this key. `trusted`: the user logged in from this origin in the last 30 days. */
export async function findUserByLogin(
  db: Database,
  accountKeyHash: Buffer,
  email: string,
  origin: string,
): Promise<{ user: User | null; trusted: boolean } | null> {
  const rows = await db.query<User & { userId: string | null; trusted: boolean }>(
    'find-user-by-login',
    `select u.user_id as "userId", u.epoch as "userEpoch", s.shipper_id as "shipperId", s.epoch as "shipperEpoch",
            s.name as "shipperName", s.status as "shipperStatus", u.password_hash as "passwordHash",
            exists (select 1 from login_origins o
                     where o.user_id = u.user_id and o.origin = $3 and o.seen_at > now() - interval '30 days') as trusted
       from shippers s
       left join lateral (
         select user_id, epoch, password_hash from users where shipper_id = s.shipper_id and email = $2 limit 1) u on true
      where ${keyMatches('$1')}`,
    [accountKeyHash, email, origin],
  );
  const [row] = rows;
  if (!row) return null;
  const { trusted, ...user } = row;
  return { user: user.userId === null ? null : user, trusted };
}

const originsPerUser = 100;

/**
 * Stores the origin at most once a day, and keeps the latest. False if the user is removed: logins and removals wait
 * for each other here.
 */
export async function rememberOrigin(db: Database, userId: string, origin: string): Promise<boolean> {
  const rows = await db.query(
    'remember-login-origin',
    `with present as materialized (
       select user_id from users where user_id = $1 for no key update
     ), old as (
       -- The row's own seen_at is checked again if another login has just changed it.
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

export interface ListedUser {
  userId: string;
  email: string;
  hasPassword: boolean;
  createdAt: Date;
}

export const listUsers = (
  db: Database,
  shipperId: string,
  afterId: string | undefined,
  limit: number,
): Promise<ListedUser[]> =>
  db.query<ListedUser>(
    'list-users',
    `select user_id as "userId", email, password_hash is not null as "hasPassword", created_at as "createdAt"
       from users
      where shipper_id = $1 and user_id > coalesce($2::uuid, uuid_floor('epoch'))
      order by user_id limit $3`,
    [shipperId, afterId ?? null, limit],
  );

const voidLinks = (tx: Database, userId: string) =>
  tx.query('void-links', 'delete from password_links where user_id = $1', [userId]);

interface LockedUser {
  shipperId: string;
  epoch: number;
  email: string;
  account: string;
}

/** Locks the user until the transaction ends. Null if there is none. */
export async function lockUser(tx: Database, userId: string): Promise<LockedUser | null> {
  const rows = await tx.query<LockedUser>(
    'lock-user',
    `select u.shipper_id as "shipperId", u.epoch, u.email, s.name as account from users u join shippers s using (shipper_id)
      where u.user_id = $1 and s.status <> 'REMOVED' for no key update of u`,
    [userId],
  );
  return rows[0] ?? null;
}

export interface LinkOwner {
  userId: string;
  email: string;
  account: string;
}

export async function findLinkOwner(db: Database, tokenHash: Buffer): Promise<LinkOwner | null> {
  const rows = await db.query<LinkOwner>(
    'find-link-owner',
    `select l.user_id as "userId", u.email, s.name as account from password_links l
       cross join lateral (select shipper_id, email from users where user_id = l.user_id limit 1) u
       cross join lateral (select status, name from shippers where shipper_id = u.shipper_id limit 1) s
      where l.token_hash = $1 and l.expires_at > now() and s.status <> 'REMOVED'`,
    [tokenHash],
  );
  return rows[0] ?? null;
}

/** At most so many ended sessions are remembered: beyond that, the user's other sessions and tokens end, too. */
const endedPerUser = 3_000;

/** Nothing happens if the user is removed. */
export async function endSession(
  db: Database,
  { userId, sessionId, expiresAt }: { userId: string; sessionId: string; expiresAt: Date },
): Promise<void> {
  await db.query(
    'end-session',
    `with present as materialized (
       select user_id from users where user_id = $1 for no key update
     ), full_up as materialized (
       select 1 from ended_sessions where user_id = $1 offset $4 limit 1
     ), forgotten as (
       delete from ended_sessions where user_id = $1 and exists (select from full_up)
     ), ended as (
       insert into ended_sessions (user_id, session_id, expires_at)
       select user_id, $2, $3 from present where not exists (select from full_up)
       on conflict do nothing
     ), unlisted as (
       delete from sessions using present where session_id = $2 and sessions.user_id = present.user_id
     )
     update users set epoch = epoch + 1 where user_id = $1 and exists (select from full_up)`,
    [userId, sessionId, expiresAt, endedPerUser - 1],
  );
}

/** Forgets sessions that have expired by any clock: each process asks its own whether a token has. */
export async function forgetEndedSessions(db: Database): Promise<void> {
  await db.query(
    'forget-ended-sessions',
    "delete from ended_sessions where expires_at < now() - interval '1 hour'",
  );
}
