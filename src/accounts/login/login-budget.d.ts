import type { RateLimits } from '../../platform/limits/rate-limit.js';
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
    look(who: Pair): Promise<{
        waitMs: number;
        byBlock: boolean;
    } | null>;
    /** Takes one; the same answer. */
    spend(who: Pair): Promise<{
        waitMs: number;
        byBlock: boolean;
    } | null>;
}
/**
 * A block that succeeded lately has `perAccount` an hour of its own, which nobody else's guesses touch. All others share
 * as many: a block may take a quarter of them, and half of them are kept for the first few of each block, so that one
 * that was not seen before gets through beside others that guess.
 */
export declare function createLoginBudget(limits: RateLimits, perAccount: number): LoginBudget;
