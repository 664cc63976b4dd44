import { createHmac } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { tooManyRequests } from '../../platform/errors.js';
import { createGate } from '../../platform/limits/gate.js';
import type { RateLimits } from '../../platform/limits/rate-limit.js';
import { hashing, hashingKinds } from '../passwords/credentials.js';
import { createLoginBudget, type Pair } from './login-budget.js';

/** Who tries to log in: account key and e-mail as they were sent, whether they are known or not. */
export interface LoginAttempt {
  accountKey: string;
  email: string;
  ip: string;
}

/** What is known of who tries. */
export interface Found<User> {
  /** Null where the account has no such user: that takes as long as one with a wrong password. */
  user: User | null;
  /** The user logged in from this origin lately. */
  trusted: boolean;
}

export interface LoginSteps<User> {
  /** `origin` stands for the caller's address. Null where there is no such account: that costs no hash. */
  find(origin: string): Promise<Found<User> | null>;
  /** Costs a hash, also without a user. */
  verify(user: User | null): Promise<boolean>;
  /** Notes that the user logged in from there. False where there is no such user any more. */
  remember(user: User, origin: string): Promise<boolean>;
}

export interface LoginLimits {
  /**
   * Verifies when its turn comes; the user, or null where the credentials are wrong or the user has been removed
   * meanwhile. Throws ApiError TOO_MANY_REQUESTS where account, address or both together have used up their hour, or
   * where too many wait of the address; UNAVAILABLE where too many wait at all.
   */
  attempt<User>(from: LoginAttempt, steps: LoginSteps<User>): Promise<User | null>;
}

type Limit = 'login_account' | 'login_ip' | 'login_crowd';

export interface LoginLimitOptions {
  limits: RateLimits;
  /** Logins per hour that may cost a hash: of one account from a known block, and from all unknown ones together. */
  perAccount: number;
  /** Failures per hour; 0 is any number. An address may be that of many users, whose successes are no attack. */
  failuresPerIp: number;
  /** Makes keys of what must not be read in Redis or PostgreSQL. */
  secret: string;
  onLimited(limit: Limit): void;
}

const windowSeconds = 3_600;
/** A block with more failures than that in an hour waits behind all others. */
const fewFailures = 10;
/** As long a refusal is remembered: who goes on asking costs nothing but the answer. */
const refusalMs = 10_000;
/** Looking up who nobody knows must not take the database from those who are known. */
const lookups = { concurrency: 4, maxWaiting: 200, maxWaitMs: 1_000 };

export function createLoginLimits(options: LoginLimitOptions): LoginLimits {
  const { limits, failuresPerIp, onLimited } = options;
  const budget = createLoginBudget(limits, options.perAccount);
  const maxFailures = failuresPerIp || Number.MAX_SAFE_INTEGER;
  const addresses = limits.limit({ name: 'login-ip', points: maxFailures, windowSeconds });
  const looking = createGate(lookups);
  const refusals = new LRUCache<string, number>({ max: 10_000, ttl: refusalMs });
  const hidden = (text: string) => createHmac('sha256', options.secret).update(text).digest('base64url');
  const refuse = (limit: Limit, waitMs: number): never => {
    onLimited(limit);
    throw tooManyRequests('Too many logins; use the token for as long as it lasts.', waitMs / 1_000);
  };
  const onCrowded = () => onLimited('login_crowd');

  const within = async (ask: 'look' | 'spend', who: Pair) => {
    const refused = await budget[ask](who);
    if (!refused) return;
    if (refused.byBlock) refusals.set(who.pair, Date.now() + refused.waitMs);
    refuse('login_account', refused.waitMs);
  };

  return {
    attempt: async ({ accountKey, email, ip }, { find, verify, remember }) => {
      const block = hidden(addressBlock(ip));
      const account = hidden(`${accountKey}\0${email}`);
      const pair = hidden(`${account}\0${block}`);
      const refusedUntil = refusals.get(pair);
      if (refusedUntil !== undefined) refuse('login_account', refusedUntil - Date.now());

      const [found, { left, resetMs }] = await Promise.all([
        looking.run(block, () => find(pair), { onCrowded }),
        addresses.look(block),
      ]);
      if (left <= 0 && !found?.trusted) refuse('login_ip', resetMs);
      if (!found) {
        await addresses.spend(block);
        return null;
      }
      const { user, trusted } = found;
      const who = { account, pair, trusted };
      await within('look', who);
      const hash = async () => {
        await within('spend', who); // what waited with it has spent meanwhile
        return verify(user);
      };
      const kind = trusted ? hashingKinds.known : kindOf(maxFailures - left + hashing.waiting(block));
      const matches = await hashing.run(trusted ? pair : block, hash, { kind, onCrowded });
      if (user && matches && (await remember(user, pair))) return user;
      await addresses.spend(block);
      return null;
    },
  };
}

/** `failures` of a block, what waits of it counted as such: a crowd that comes at once is not new but for its first. */
const kindOf = (failures: number): number => {
  if (failures === 0) return hashingKinds.new;
  return failures < fewFailures ? hashingKinds.fewFailures : hashingKinds.manyFailures;
};

/** What one caller has: an IPv4 address, or the /64 of an IPv6 address. */
function addressBlock(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address.kind() === 'ipv6'
    ? (address as ipaddr.IPv6).parts.slice(0, 4).join(':')
    : address.toString();
}
