import { LRUCache } from 'lru-cache';
import { createBatcher } from '../platform/batch.js';
import type { Database } from '../platform/database/postgres.js';
import type { VerifiedClaims } from './tokens.js';

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
  const rows = await db.query<Omit<Principal, 'keyHashes'> & { key: Buffer; previousKey: Buffer | null }>(
    'load-principals',
    `select u.user_id as "userId", u.epoch as "userEpoch", u.email, s.shipper_id as "shipperId",
            s.name as "shipperName", s.epoch as "shipperEpoch", s.status as "shipperStatus",
            s.rate_limit as "rateLimit",
            (select coalesce(json_agg(session_id), '[]') from ended_sessions where user_id = u.user_id) as "endedSessions",
            s.account_key_hash as key,
            case when s.previous_key_until > now() then s.previous_key_hash end as "previousKey"
       from users u cross join lateral (select * from shippers where shipper_id = u.shipper_id limit 1) s
      where u.user_id = any($1::uuid[])`,
    [userIds],
  );
  return rows.map(({ key, previousKey, ...principal }) => ({
    ...principal,
    keyHashes: [key, previousKey].flatMap((hash) => (hash ? [hash.toString('base64url')] : [])),
  }));
}

export type PrincipalCache = ReturnType<typeof createPrincipalCache>;

interface Entry {
  principal: Principal | null;
  /** The time before the query, by performance.now(). */
  readAt: number;
}

const freshMs = 3_000;
/** The ten seconds of docs/api.md, less the longest statement. */
const maxMs = 7_000;
const maxEntries = 10_000;

/** A request waits only for a user missing or older than `maxMs`; one older than `freshMs` is reloaded meanwhile. */
export function createPrincipalCache(db: Database) {
  const entries = new LRUCache<string, Entry>({ max: maxEntries });
  const loading = new Map<string, Promise<Entry>>();
  let clearedAt = -Infinity;
  const loads = createBatcher<string, Entry>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 5_000,
    flush: async (userIds) => {
      const readAt = performance.now();
      const found = new Map(
        (await loadPrincipals(db, [...new Set(userIds)])).map((row) => [row.userId, row]),
      );
      return userIds.map((userId) => ({ principal: found.get(userId) ?? null, readAt }));
    },
  });

  const load = async (userId: string): Promise<Entry> => {
    const loaded = await loads.add(userId);
    if (loaded.readAt > clearedAt && loaded.readAt >= (entries.get(userId)?.readAt ?? 0))
      entries.set(userId, loaded);
    return loaded;
  };
  const loadOnce = (userId: string): Promise<Entry> => {
    const promise = loading.get(userId) ?? load(userId).finally(() => loading.delete(userId));
    loading.set(userId, promise);
    return promise;
  };

  return {
    /** The principal as of at most eight seconds ago. Throws ApiError UNAVAILABLE. */
    get: async (userId: string) => {
      const entry = entries.get(userId);
      const ageMs = entry ? performance.now() - entry.readAt : Infinity;
      if (!entry || ageMs > maxMs) return (await loadOnce(userId)).principal;
      if (ageMs > freshMs) loadOnce(userId).catch(() => undefined); // the next request that has to wait gets the error
      return entry.principal;
    },
    getFresh: async (userId: string) => (await load(userId)).principal,
    /** Call it after each change of an account by this process. */
    clear: () => {
      clearedAt = performance.now();
      entries.clear();
      loading.clear();
    },
  };
}

type Verdict = 'GOOD' | 'ENDED' | 'SUSPENDED' | 'OTHER_KEY';

/** Epochs only count up and a removed user never comes back: `ENDED` is certain. Null: the entry may be too old. */
function judge(claims: VerifiedClaims, keyHash: string, principal: Principal | null): Verdict | null {
  if (!principal || principal.shipperStatus === 'REMOVED' || principal.shipperId !== claims.shipperId)
    return 'ENDED';
  if (claims.sessionId !== null && principal.endedSessions.includes(claims.sessionId)) return 'ENDED';
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
