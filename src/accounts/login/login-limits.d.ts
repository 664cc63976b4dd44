import type { RateLimits } from '../../platform/limits/rate-limit.js';
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
    /** Notes that the user logged in from there. */
    remember(user: User, origin: string): Promise<void>;
}
export interface LoginLimits {
    /**
     * Verifies when its turn comes; the user, or null where the credentials are wrong. Throws ApiError TOO_MANY_REQUESTS
     * where account, address or both together have used up their hour, or where too many wait of the address;
     * UNAVAILABLE where too many wait at all.
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
export declare function createLoginLimits(options: LoginLimitOptions): LoginLimits;
export {};
