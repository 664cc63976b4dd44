import type { Balance, RateLimits } from '../../platform/limits/rate-limit.js';

const windowSeconds = 3_600;

/** The address and its block, as hashes: the address block is where the login comes from. */
export interface Pair {
  account: string;
  pair: string;
  /** The account logged in from this block in the last 30 days. */
  trusted: boolean;
}

export interface LoginBudget {
  /** Null if one more hash is allowed. `byBlock`: this block alone has used up its share. */
  check(from: Pair): Promise<{ waitMs: number; byBlock: boolean } | null>;
  /** Checks as `check` does, and takes one hash. */
  spend(from: Pair): Promise<{ waitMs: number; byBlock: boolean } | null>;
}

/**
 * A trusted block has `perAccount` hashes an hour of its own, untouched by guesses from elsewhere. All other blocks
 * share as many: one block may take a quarter, and half are reserved for the first few of each block, so that a new
 * block gets through while others guess.
 */
export function createLoginBudget(limits: RateLimits, perAccount: number): LoginBudget {
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

  /** The block first: its excess must not count against the other blocks. */
  const apply = async (how: 'balance' | 'spend', { account, pair, trusted }: Pair, more: number) => {
    const balance = await pairs[how](pair);
    const refused = ofPair(trusted, balance, more);
    if (refused || trusted) return refused;
    const beyond = ofStrangers(perAccount - balance.left, await strangers[how](account), more);
    if (beyond && how === 'spend') await strangers.spend(account, -1); // reserved for other blocks
    return beyond;
  };
  return { check: (from) => apply('balance', from, 1), spend: (from) => apply('spend', from, 0) };
}
