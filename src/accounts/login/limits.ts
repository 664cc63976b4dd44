import { createHmac } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { tooManyRequests } from '../../platform/errors.js';
import { createGate } from '../../platform/limits/gate.js';
import type { RateLimits, Balance } from '../../platform/limits/rate-limit.js';
import { hashing, hashingKinds } from '../credentials.js';

/** The account key, of which it has the hash, and the e-mail address are as sent, whether they exist or not. */
export interface LoginAttempt {
  keyHash: string;
  email: string;
  ip: string;
}

export interface Found<User> {
  /** Null if the account has no such user: this takes as long as a wrong password. */
  user: User | null;
  trusted: boolean;
}

export interface LoginSteps<User> {
  /** `origin` is a hash of account and address block. Null if there is no such account: this costs no hash. */
  find(origin: string): Promise<Found<User> | null>;
  /** Costs a hash, even without a user. */
  verify(user: User | null): Promise<boolean>;
  /** False if the user has been removed. */
  remember(user: User, origin: string): Promise<boolean>;
}

export type LoginLimits = ReturnType<typeof createLoginLimits>;

type Limit = 'login_account' | 'login_ip' | 'login_crowd';

export interface LoginLimitOptions {
  limits: RateLimits;
  /** Hashes per hour and account: for each trusted block, and for all other blocks together. */
  perAccount: number;
  /** Failures per hour and address; 0 is unlimited. Successes do not count: many users may share an address. */
  failuresPerIp: number;
  /** Keyed hashes: accounts and addresses must not be readable in Redis or PostgreSQL. */
  secret: string;
  onLimited(limit: Limit): void;
}

const windowSeconds = 3_600;
/** A block with more failures than this in an hour waits behind all others. */
const fewFailures = 10;
/** Repeated attempts cost no lookup for this long. */
const refusalMs = 10_000;
/** Lookups of unknown accounts must not starve other database work. */
const lookups = { concurrency: 4, maxWaiting: 200, maxWaitMs: 1_000 };

export function createLoginLimits(options: LoginLimitOptions) {
  const { limits, failuresPerIp, onLimited } = options;
  const budget = createLoginBudget(limits, options.perAccount);
  const maxFailures = failuresPerIp || Number.MAX_SAFE_INTEGER;
  const addresses = limits.limit({ name: 'login-ip', points: maxFailures, windowSeconds });
  const lookupGate = createGate(lookups);
  const refusals = new LRUCache<string, number>({ max: 10_000, ttl: refusalMs });
  const keyedHash = (text: string) => createHmac('sha256', options.secret).update(text).digest('base64url');
  const refuse = (limit: Limit, waitMs: number): never => {
    onLimited(limit);
    throw tooManyRequests('Too many logins. Reuse the token until it expires.', waitMs / 1_000);
  };
  const onCrowded = () => onLimited('login_crowd');

  const within = async (step: 'check' | 'spend', from: Pair) => {
    const refused = await budget[step](from);
    if (!refused) return;
    if (refused.byBlock) refusals.set(from.pair, Date.now() + refused.waitMs);
    refuse('login_account', refused.waitMs);
  };

  return {
    /**
     * Verifies when a hashing slot is free. Null if the credentials are wrong or the user has been removed. Throws
     * ApiError TOO_MANY_REQUESTS if account, address or the pair is over its hourly limit, or if too many logins of the
     * address wait; UNAVAILABLE if too many wait in all.
     */
    attempt: async <User>(
      { keyHash, email, ip }: LoginAttempt,
      { find, verify, remember }: LoginSteps<User>,
    ): Promise<User | null> => {
      const block = keyedHash(addressBlock(ip));
      const account = keyedHash(`${keyHash}\0${email}`);
      const pair = keyedHash(`${account}\0${block}`);
      const refusedUntil = refusals.get(pair);
      if (refusedUntil !== undefined) refuse('login_account', refusedUntil - Date.now());

      const [found, { left, resetMs }] = await Promise.all([
        lookupGate.run(block, () => find(pair), { onCrowded }),
        addresses.balance(block),
      ]);
      if (left <= 0 && !found?.trusted) refuse('login_ip', resetMs);
      if (!found) {
        await addresses.spend(block);
        return null;
      }
      const { user, trusted } = found;
      const from = { account, pair, trusted };
      await within('check', from);
      const hash = async () => {
        await within('spend', from); // others that waited may have used up the limit meanwhile
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

/** `failures` includes the logins of the block that still wait, so only the first of a burst is treated as new. */
const kindOf = (failures: number): number => {
  if (failures === 0) return hashingKinds.new;
  return failures < fewFailures ? hashingKinds.fewFailures : hashingKinds.manyFailures;
};

/** An IPv4 address, or the /64 of an IPv6 address: what one caller controls. */
export function addressBlock(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address.kind() === 'ipv6'
    ? (address as ipaddr.IPv6).parts.slice(0, 4).join(':')
    : address.toString();
}

/** Both are hashes; a pair is an account and the address block that the login comes from. */
interface Pair {
  account: string;
  pair: string;
  trusted: boolean;
}

/**
 * A trusted block has `perAccount` hashes an hour of its own, untouched by guesses from elsewhere. All other blocks
 * share as many: one block may take a quarter, and half are reserved for the first few of each block, so that a new
 * block gets through while others guess.
 */
export function createLoginBudget(limits: RateLimits, perAccount: number) {
  const pairs = limits.limit({ name: 'login-pair', points: perAccount, windowSeconds });
  const strangers = limits.limit({ name: 'login-account', points: perAccount, windowSeconds });
  const perStranger = Math.ceil(perAccount / 4);
  const firstFew = Math.ceil(perAccount / 20);
  const reservedForFirst = Math.floor(perAccount / 2);

  const ofPair = (trusted: boolean, { left, resetMs }: Balance, more: number) =>
    perAccount - left + more > (trusted ? perAccount : perStranger)
      ? { waitMs: resetMs, byBlock: true }
      : null;
  const ofStrangers = (used: number, { left, resetMs }: Balance, more: number) =>
    left - more < (used + more <= firstFew ? 0 : reservedForFirst)
      ? { waitMs: resetMs, byBlock: false }
      : null;

  /** The block is counted first: its excess must not count against the other blocks. */
  const apply = async (how: 'balance' | 'spend', { account, pair, trusted }: Pair, more: number) => {
    const balance = await pairs[how](pair);
    const refused = ofPair(trusted, balance, more);
    if (refused || trusted) return refused;
    const beyond = ofStrangers(perAccount - balance.left, await strangers[how](account), more);
    if (beyond && how === 'spend') await strangers.spend(account, -1); // reserved for other blocks
    return beyond;
  };
  return {
    /** Resolves with null if one more hash is allowed. `byBlock` says that this block alone has used up its share. */
    check: (from: Pair) => apply('balance', from, 1),
    /** Checks as `check` does, and takes one hash. */
    spend: (from: Pair) => apply('spend', from, 0),
  };
}
