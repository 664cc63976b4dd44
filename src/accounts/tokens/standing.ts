import { LRUCache } from 'lru-cache';
import { createBatcher } from '../../platform/batch.js';
import type { Database } from '../../platform/database/postgres.js';
import { loadStandings, type Standing } from './standing-store.js';
import type { TokenClaims } from './tokens.js';

export interface Standings {
  /** What is known of a user, at most eight seconds old; null where there is none. Throws ApiError UNAVAILABLE. */
  of(userId: string): Promise<Standing | null>;
  /** The same, as it is now. */
  now(userId: string): Promise<Standing | null>;
  /** Something has changed through this process. */
  forget(): void;
}

interface Known {
  standing: Standing | null;
  /** performance.now() before it was asked for. */
  readAt: number;
}

const freshMs = 3_000;
/** The contract's ten seconds, less the longest statement: after that nothing is known any more. */
const maxMs = 7_000;
const remembered = 10_000;

/**
 * Who may still call. A request waits for PostgreSQL only where nothing is known of its user, or for too long; in
 * between, what is known is read again behind its back, once in three seconds for each user who calls.
 */
export function createStandings(db: Database): Standings {
  const known = new LRUCache<string, Known>({ max: remembered });
  const underWay = new Map<string, Promise<Known>>();
  let forgottenAt = -Infinity;
  const loads = createBatcher<string, Known>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 5_000,
    flush: async (userIds) => {
      const readAt = performance.now();
      const found = new Map((await loadStandings(db, [...new Set(userIds)])).map((row) => [row.userId, row]));
      return userIds.map((userId) => ({ standing: found.get(userId) ?? null, readAt }));
    },
  });

  const load = async (userId: string): Promise<Known> => {
    const loaded = await loads.add(userId);
    if (loaded.readAt > forgottenAt && loaded.readAt >= (known.get(userId)?.readAt ?? 0))
      known.set(userId, loaded);
    return loaded;
  };
  const loadOnce = (userId: string): Promise<Known> => {
    const loading = underWay.get(userId) ?? load(userId).finally(() => underWay.delete(userId));
    underWay.set(userId, loading);
    return loading;
  };

  return {
    of: async (userId) => {
      const entry = known.get(userId);
      const ageMs = entry ? performance.now() - entry.readAt : Infinity;
      if (!entry || ageMs > maxMs) return (await loadOnce(userId)).standing;
      if (ageMs > freshMs) loadOnce(userId).catch(() => undefined); // who needs it will be told
      return entry.standing;
    },
    now: async (userId) => (await load(userId)).standing,
    forget: () => {
      forgottenAt = performance.now();
      known.clear();
      underWay.clear();
    },
  };
}

export type Verdict = 'GOOD' | 'ENDED' | 'SUSPENDED' | 'OTHER_KEY';

/**
 * What a genuine token and an account key are worth, by what is known of their user. An epoch only counts up, and a
 * user or shipper that is gone does not come back; so `ENDED` for one of these is certain, whatever the age of what is
 * known. `null`: what is known does not say, and may be too old to.
 */
export function judge(claims: TokenClaims, keyHash: string, standing: Standing | null): Verdict | null {
  if (!standing || standing.shipperStatus === 'REMOVED' || standing.shipperId !== claims.shipperId)
    return 'ENDED';
  if (claims.userEpoch < standing.userEpoch || claims.shipperEpoch < standing.shipperEpoch) return 'ENDED';
  if (claims.userEpoch > standing.userEpoch || claims.shipperEpoch > standing.shipperEpoch) return null;
  if (![claims.accountKeyHash, keyHash].every((hash) => standing.keyHashes.includes(hash))) return null;
  return standing.shipperStatus === 'SUSPENDED' ? 'SUSPENDED' : 'GOOD';
}

/** The verdict by what is known now, where `judge` did not say. */
export const judgeNow = (claims: TokenClaims, keyHash: string, standing: Standing | null): Verdict =>
  judge(claims, keyHash, standing) ??
  (standing?.keyHashes.includes(claims.accountKeyHash) && !standing.keyHashes.includes(keyHash)
    ? 'OTHER_KEY'
    : 'ENDED');
