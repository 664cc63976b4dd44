import type { Balance, RateLimits } from '../../platform/limits/rate-limit.js';

const windowSeconds = 3_600;

/** An account and the address block a login comes from, neither to be read. */
export interface Pair {
  account: string;
  pair: string;
  /** The account was logged in to from this block lately. */
  trusted: boolean;
}

/** Which logins of an account may cost a hash. */
export interface LoginBudget {
  /** Null if one more may; else how long to wait, and whether this block alone has used up what it may. */
  look(who: Pair): Promise<{ waitMs: number; byBlock: boolean } | null>;
  /** Takes one; the same answer. */
  spend(who: Pair): Promise<{ waitMs: number; byBlock: boolean } | null>;
}

/**
 * A block that succeeded lately has `perAccount` an hour of its own, which nobody else's guesses touch. All others share
 * as many: a block may take a quarter of them, and half of them are kept for the first few of each block, so that one
 * that was not seen before gets through beside others that guess.
 */
export function createLoginBudget(limits: RateLimits, perAccount: number): LoginBudget {
  const pairs = limits.limit({ name: 'login-pair', points: perAccount, windowSeconds });
  const strangers = limits.limit({ name: 'login-account', points: perAccount, windowSeconds });
  const perStranger = Math.ceil(perAccount / 4);
  const firstFew = Math.ceil(perAccount / 20);
  const keptForFirst = Math.floor(perAccount / 2);

  const ofPair = (trusted: boolean, { left, resetMs }: Balance, more: number) =>
    perAccount - left + more > (trusted ? perAccount : perStranger)
      ? { waitMs: resetMs, byBlock: true }
      : null;
  const ofStrangers = (used: number, { left, resetMs }: Balance, more: number) =>
    left - more < (used + more <= firstFew ? 0 : keptForFirst) ? { waitMs: resetMs, byBlock: false } : null;

  /** In turn, so that what a block has too many of costs the others nothing. */
  const ask = async (how: 'look' | 'spend', { account, pair, trusted }: Pair, more: number) => {
    const balance = await pairs[how](pair);
    const refused = ofPair(trusted, balance, more);
    if (refused || trusted) return refused;
    const beyond = ofStrangers(perAccount - balance.left, await strangers[how](account), more);
    if (beyond && how === 'spend') await strangers.spend(account, -1); // it is kept for others
    return beyond;
  };
  return { look: (who) => ask('look', who, 1), spend: (who) => ask('spend', who, 0) };
}
