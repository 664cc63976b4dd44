/**
 * A hash takes a core and 19 MiB for some 25 ms. At most half of the cores and of Node's four threads, so that
 * logins starve neither the API nor name lookups, and no longer queues than are worked off in about a second each.
 */
export declare const hashing: import("../../platform/limits/gate.js").Gate;
export declare const hashPassword: (password: string) => Promise<string>;
/** Verifies against a stored hash, or against a decoy that takes the same time where there is none. */
export declare function verifyPassword(stored: string | null, password: string): Promise<boolean>;
export declare const sha256: (text: string) => Buffer;
/** `ak_` and 160 random bits; kept as a hash only. */
export declare const newAccountKey: () => string;
/** 256 random bits for a link that sets a password; kept as a hash only. */
export declare const newLinkToken: () => string;
/** Compares without telling by its duration where the texts differ. */
export declare const sameText: (a: string, b: string) => boolean;
