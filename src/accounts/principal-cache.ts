import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createBatcher } from '../platform/batch.js';
import type { Database } from '../platform/database/postgres.js';
import { keyColumns, keyHashesOf, type KeyColumns } from './shippers.js';
import type { VerifiedClaims } from './tokens.js';

export type AccountCache<Row> = ReturnType<typeof createAccountCache<Row>>;

interface Entry<Row> {
  row: Row | null;
  /** The time before the query, by performance.now(). */
  readAt: number;
}

const freshMs = 3_000;
/** The ten seconds of docs/api.md, less the longest statement. */
const maxMs = 7_000;
const maxEntries = 10_000;

/**
 * Caches what requests need to know of an account, by key. A request waits only for an entry missing or older than `maxMs`; one
 * older than `freshMs` is reloaded meanwhile. `read` leaves out what does not exist.
 */
export function createAccountCache<Row>(read: (keys: string[]) => Promise<Map<string, Row>>) {
  const entries = new LRUCache<string, Entry<Row>>({ max: maxEntries });
  const loading = new Map<string, Promise<Entry<Row>>>();
  let clearedAt = -Infinity;
  const loads = createBatcher<string, Entry<Row>>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 5_000,
    flush: async (keys) => {
      const readAt = performance.now();
      const found = await read([...new Set(keys)]);
      return keys.map((key) => ({ row: found.get(key) ?? null, readAt }));
    },
  });

  const load = async (key: string): Promise<Entry<Row>> => {
    const loaded = await loads.add(key);
    if (loaded.readAt > clearedAt && loaded.readAt >= (entries.get(key)?.readAt ?? 0))
      entries.set(key, loaded);
    return loaded;
  };
  const loadOnce = (key: string): Promise<Entry<Row>> => {
    const promise = loading.get(key) ?? load(key).finally(() => loading.delete(key));
    loading.set(key, promise);
    return promise;
  };

  return {
    /** The row as of at most eight seconds ago; null without one. Throws ApiError UNAVAILABLE. */
    get: async (key: string) => {
      const entry = entries.get(key);
      const ageMs = entry ? performance.now() - entry.readAt : Infinity;
      if (!entry || ageMs > maxMs) return (await loadOnce(key)).row;
      if (ageMs > freshMs) loadOnce(key).catch(() => undefined); // the next request that has to wait gets the error
      return entry.row;
    },
    /** Reads the row again: it has all changes made before the call. Throws ApiError UNAVAILABLE. */
    getFresh: async (key: string) => (await load(key)).row,
    /** Whether an account may have changed since this time (performance.now()). */
    isChangedSince: (sinceMs: number) => clearedAt >= sinceMs,
    /** Call it after each change of an account by this process. */
    clear: () => {
      clearedAt = performance.now();
      entries.clear();
      loading.clear();
    },
  };
}

export interface Principal {
  userId: string;
  userEpoch: number;
  shipperId: string;
  shipperEpoch: number;
  shipperStatus: 'ACTIVE' | 'SUSPENDED' | 'REMOVED';
  email: string;
  shipperName: string;
  /** The shipper's API requests per second; null: API_RATE_LIMIT. */
  rateLimit: number | null;
  /** Ids of the portal sessions that the user has ended and that have not expired. */
  endedSessions: string[];
  /** The hashes are in base64url: one, or two after a rotation. */
  keyHashes: string[];
}

async function loadPrincipals(db: Database, userIds: string[]): Promise<Principal[]> {
  const rows = await db.query<Omit<Principal, 'keyHashes'> & KeyColumns>(
    'load-principals',
    `select u.user_id as "userId", u.epoch as "userEpoch", u.email, s.shipper_id as "shipperId",
            s.name as "shipperName", s.epoch as "shipperEpoch", s.status as "shipperStatus",
            s.rate_limit as "rateLimit",
            (select coalesce(json_agg(session_id), '[]') from ended_sessions where user_id = u.user_id) as "endedSessions",
            ${keyColumns}
       from users u cross join lateral (select * from shippers where shipper_id = u.shipper_id limit 1) s
      where u.user_id = any($1::uuid[])`,
    [userIds],
  );
  return rows.map(({ key, previousKey, ...principal }) => ({
    ...principal,
    keyHashes: keyHashesOf({ key, previousKey }),
  }));
}

export type PrincipalCache = AccountCache<Principal>;

export const createPrincipalCache = (db: Database): PrincipalCache =>
  createAccountCache(
    async (userIds) => new Map((await loadPrincipals(db, userIds)).map((row) => [row.userId, row])),
  );

type Verdict = 'GOOD' | 'ENDED' | 'SUSPENDED' | 'OTHER_KEY';

/** Epochs only count up and a removed user never comes back: `ENDED` is certain. Null: the entry may be too old. */
function judge(claims: VerifiedClaims, keyHash: string, principal: Principal | null): Verdict | null {
  if (!principal || principal.shipperStatus === 'REMOVED' || principal.shipperId !== claims.shipperId)
    return 'ENDED';
  if (claims.session && principal.endedSessions.includes(claims.session.sessionId)) return 'ENDED';
  if (claims.userEpoch < principal.userEpoch || claims.shipperEpoch < principal.shipperEpoch) return 'ENDED';
  if (claims.userEpoch > principal.userEpoch || claims.shipperEpoch > principal.shipperEpoch) return null;
  if (![claims.accountKeyHash, keyHash].every((hash) => principal.keyHashes.includes(hash))) return null;
  return principal.shipperStatus === 'SUSPENDED' ? 'SUSPENDED' : 'GOOD';
}

/** Judges an entry read just now, if `judge` returned null for an older one. */
const judgeNow = (claims: VerifiedClaims, keyHash: string, principal: Principal | null): Verdict =>
  judge(claims, keyHash, principal) ??
  (principal?.keyHashes.includes(claims.accountKeyHash) && !principal.keyHashes.includes(keyHash)
    ? 'OTHER_KEY'
    : 'ENDED');

/** Reads the user again if what is cached may be too old. `principal` is never null if `GOOD`. */
export async function judgeBy(
  principals: Pick<PrincipalCache, 'get' | 'getFresh'>,
  claims: VerifiedClaims,
  keyHash: string,
): Promise<{ verdict: Verdict; principal: Principal | null }> {
  const cached = await principals.get(claims.userId);
  const verdict = judge(claims, keyHash, cached);
  if (verdict !== null) return { verdict, principal: cached };
  const fresh = await principals.getFresh(claims.userId);
  return { verdict: judgeNow(claims, keyHash, fresh), principal: fresh };
}

/** Longer than this no response waits to learn whether its session may be renewed. */
const renewalWaitMs = 250;

/**
 * Returns whether the session is good according to the database, read just now; false if that fails, takes long, or an
 * account changed meanwhile: a later response renews it.
 */
export async function isGoodNow(
  principals: Pick<PrincipalCache, 'getFresh' | 'isChangedSince'>,
  claims: VerifiedClaims,
): Promise<boolean> {
  const askedAtMs = performance.now();
  const reading = principals.getFresh(claims.userId).catch(() => null);
  const fresh = await Promise.race([reading, sleep(renewalWaitMs, null, { ref: false })]);
  return judgeNow(claims, claims.accountKeyHash, fresh) === 'GOOD' && !principals.isChangedSince(askedAtMs);
}
