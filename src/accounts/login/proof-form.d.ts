import type { Request } from 'express';
/** What follows the scheme in a header Authorization. */
declare const forms: {
    Bearer: {
        pattern: RegExp;
        words: string;
    };
    Basic: {
        pattern: RegExp;
        words: string;
    };
};
type Scheme = keyof typeof forms;
/** The account key and what the header Authorization bears. Throws 401 that says what is absent or malformed. */
export declare function keyAndProof(request: Request, scheme: Scheme): {
    accountKey: string;
    proof: string;
};
/** The token of who needs no account key; throws as `keyAndProof` does. */
export declare function tokenOf(request: Request): string;
export declare const malformed: (scheme: Scheme) => string;
export {};
