import type { TokenScope } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
import { unauthorized } from '../../platform/errors.js';
import { keyColumns, keyHashesOf, lockShipper, type KeyColumns } from '../shippers.js';

/** A token of a program, as stored. */
export interface ProgramToken {
  tokenId: string;
  name: string;
  scopes: TokenScope[];
  webhookId: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  /** The day (UTC), such as `2026-11-29`. */
  lastUsedOn: string | null;
}

const columns = `token_id as "tokenId", name, scopes, webhook_id as "webhookId", created_at as "createdAt",
  expires_at as "expiresAt", to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn"`;

/** Expired tokens make room. Null if there is none. */
export async function insertProgramToken(
  tx: Database,
  shipperId: string,
  token: Pick<ProgramToken, 'tokenId' | 'name' | 'scopes' | 'webhookId' | 'expiresAt'> & { hash: Buffer },
  limit: number,
): Promise<ProgramToken | null> {
  if (!(await lockShipper(tx, shipperId))) throw unauthorized(); // the lock makes concurrent creations count each other
  await tx.query(
    'drop-expired-tokens',
    `delete from program_tokens
      where shipper_id = $1 and expires_at <= now()
        and (select count(*) from program_tokens where shipper_id = $1) >= $2`,
    [shipperId, limit],
  );
  const rows = await tx.query<ProgramToken>(
    'insert-program-token',
    `insert into program_tokens (token_id, shipper_id, token_hash, name, scopes, webhook_id, expires_at)
     select $2, $1, $3, $4, $5, $6, $7
      where (select count(*) from program_tokens where shipper_id = $1) < $8
     returning ${columns}`,
    [shipperId, token.tokenId, token.hash, token.name, token.scopes, token.webhookId, token.expiresAt, limit],
  );
  return rows[0] ?? null;
}

export const listProgramTokens = (
  db: Database,
  shipperId: string,
  afterId: string | undefined,
  limit: number,
): Promise<ProgramToken[]> =>
  db.query<ProgramToken>(
    'list-program-tokens',
    `select ${columns} from program_tokens
      where shipper_id = $1 and token_id > coalesce($2::uuid, uuid_floor('epoch')) order by token_id limit $3`,
    [shipperId, afterId ?? null, limit],
  );

export async function deleteProgramToken(db: Database, shipperId: string, tokenId: string): Promise<boolean> {
  const rows = await db.query(
    'delete-program-token',
    'delete from program_tokens where token_id = $2 and shipper_id = $1 returning 1',
    [shipperId, tokenId],
  );
  return rows.length > 0;
}

/** A program that has authenticated itself, and its shipper. */
export interface Program {
  tokenId: string;
  scopes: TokenScope[];
  webhookId: string | null;
  shipperId: string;
  shipperStatus: 'ACTIVE' | 'SUSPENDED' | 'REMOVED';
  /** Its API requests per second; null: API_RATE_LIMIT. */
  rateLimit: number | null;
  /** As of a principal. */
  keyHashes: string[];
  /** When it expires, by performance.now(): no clock but PostgreSQL's decides. */
  endsAt: number;
}

type ProgramRow = Omit<Program, 'keyHashes' | 'endsAt'> &
  KeyColumns & { hash: string; leftMs: number | null; isNewDay: boolean };

const today = `(now() at time zone 'UTC')::date`;

/** By the hash of the token, in hexadecimal; without those that have expired. Notes the first use of a day. */
export async function readPrograms(db: Database, hashes: string[]): Promise<Map<string, Program>> {
  const rows = await db.query<ProgramRow>(
    'read-programs',
    `select encode(t.token_hash, 'hex') as hash, t.token_id as "tokenId", t.scopes, t.webhook_id as "webhookId",
            extract(epoch from t.expires_at - now())::float8 * 1000 as "leftMs",
            t.last_used_on is distinct from ${today} as "isNewDay",
            s.shipper_id as "shipperId", s.status as "shipperStatus", s.rate_limit as "rateLimit", ${keyColumns}
       from program_tokens t
      cross join lateral (select * from shippers where shipper_id = t.shipper_id limit 1) s
      where t.token_hash = any(array(select decode(hash, 'hex') from unnest($1::text[]) hash))
        and (t.expires_at is null or t.expires_at > now())`,
    [hashes],
  );
  const usedFirst = rows.filter(({ isNewDay }) => isNewDay).map(({ tokenId }) => tokenId);
  // If it fails, the next reading tries again: PostgreSQL may be read-only.
  if (usedFirst.length > 0) await noteUse(db, usedFirst).catch(() => undefined);
  const now = performance.now();
  return new Map(
    rows.map(({ hash, leftMs, key, previousKey, ...program }) => [
      hash,
      {
        ...program,
        keyHashes: keyHashesOf({ key, previousKey }),
        endsAt: leftMs === null ? Infinity : now + leftMs,
      },
    ]),
  );
}

/** Passes over rows that are locked: another process notes the same, or the token is being revoked. */
const noteUse = (db: Database, tokenIds: string[]) =>
  db.query(
    'note-use-of-tokens',
    `update program_tokens set last_used_on = ${today}
      where token_id = any(array(
        select token_id from program_tokens
         where token_id = any($1::uuid[]) and last_used_on is distinct from ${today}
           for no key update skip locked))`,
    [tokenIds],
  );
