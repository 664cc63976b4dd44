import type { Database } from '../../platform/database/postgres.js';
import { notFound } from '../../platform/errors.js';
import { audit, type Actor } from '../audit.js';
import { newLinkToken, sha256 } from '../credentials.js';
import { holdShipper } from '../shippers.js';
import type { Links } from '../users.js';

/** Single-use, valid for 15 minutes. 404 if there is no such shipper. */
export const newSupportLink = (
  db: Database,
  { publicUrl, cell }: Links,
  actor: Actor,
  shipperId: string,
): Promise<string> =>
  db.transaction(async (tx) => {
    if (!(await holdShipper(tx, shipperId))) throw notFound('This shipper');
    const token = newLinkToken(cell);
    await tx.query(
      'insert-support-link',
      `with expired as (delete from support_links where shipper_id = $2 and opened_at is null and expires_at < now())
       insert into support_links (token_hash, shipper_id, operator, expires_at)
       values ($1, $2, $3, now() + interval '15 minutes')`,
      [sha256(token), shipperId, actor.name],
    );
    await audit(tx, actor, { action: 'SUPPORT_LINK_CREATED', shipperId });
    return `${publicUrl}/support?token=${token}`;
  });

const isOpenable = `l.opened_at is null and l.expires_at > now()
  and exists (select from shippers s where s.shipper_id = l.shipper_id and s.status <> 'REMOVED')`;

/** The name of the shipper whose portal the link opens; null if the link is void. */
export async function findSupportLink(db: Database, tokenHash: Buffer): Promise<string | null> {
  const rows = await db.query<{ account: string }>(
    'find-support-link',
    `select (select name from shippers where shipper_id = l.shipper_id) as account
       from support_links l where l.token_hash = $1 and ${isOpenable}`,
    [tokenHash],
  );
  return rows[0]?.account ?? null;
}

/** Begins the session, once: one of two concurrent calls wins. False if the link is void. */
export const openSupportLink = (
  db: Database,
  address: string | null,
  tokenHash: Buffer,
  sessionHash: Buffer,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const [opened] = await tx.query<{ shipperId: string; operator: string }>(
      'open-support-link',
      `update support_links l set session_hash = $2, opened_at = now(), ends_at = now() + interval '1 hour'
        where l.token_hash = $1 and ${isOpenable}
       returning shipper_id as "shipperId", operator`,
      [tokenHash, sessionHash],
    );
    if (!opened) return false;
    const actor: Actor = { kind: 'OPERATOR', name: opened.operator, address };
    await audit(tx, actor, { action: 'SUPPORT_LINK_OPENED', shipperId: opened.shipperId });
    return true;
  });

/** A session of the operator's in a shipper's portal. */
export interface SupportSession {
  shipperId: string;
  shipperName: string;
  shipperStatus: 'ACTIVE' | 'SUSPENDED' | 'REMOVED';
  rateLimit: number | null;
  operator: string;
  openedAt: Date;
  endsAt: Date;
}

/** By the hash of the cookie, in hexadecimal; without those that have ended. */
export async function readSupportSessions(
  db: Database,
  hashes: string[],
): Promise<Map<string, SupportSession>> {
  const rows = await db.query<SupportSession & { hash: string }>(
    'read-support-sessions',
    `select encode(l.session_hash, 'hex') as hash, l.operator, l.opened_at as "openedAt", l.ends_at as "endsAt", s.shipper_id as "shipperId",
            s.name as "shipperName", s.status as "shipperStatus", s.rate_limit as "rateLimit"
       from support_links l
      cross join lateral (select * from shippers where shipper_id = l.shipper_id limit 1) s
      where l.session_hash = any(array(select decode(hash, 'hex') from unnest($1::text[]) hash)) and l.ends_at > now()`,
    [hashes],
  );
  return new Map(rows.map(({ hash, ...session }) => [hash, session]));
}

export const endSupportSession = (db: Database, sessionHash: Buffer): Promise<unknown> =>
  db.query(
    'end-support-session',
    'update support_links set ends_at = now() where session_hash = $1 and ends_at > now()',
    [sessionHash],
  );

/** When the operator last opened the shipper's portal, as far as that is remembered; null: never. */
export async function lastSupportOf(db: Database, shipperId: string): Promise<Date | null> {
  const rows = await db.query<{ at: Date | null }>(
    'last-support',
    'select max(opened_at) as at from support_links where shipper_id = $1',
    [shipperId],
  );
  return rows[0]?.at ?? null;
}

/** The shipper sees for 30 days that its portal was opened; the audit log has it for longer. */
export async function forgetSupportLinks(db: Database): Promise<void> {
  await db.query(
    'forget-support-links',
    "delete from support_links where greatest(expires_at, ends_at) < now() - interval '30 days'",
  );
}
