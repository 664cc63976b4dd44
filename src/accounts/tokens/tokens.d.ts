export interface TokenClaims {
    userId: string;
    shipperId: string;
    /** Of the account key that was used to log in. */
    accountKeyHash: string;
    /** As they were at the login: the token ends when one of them moves on. */
    userEpoch: number;
    shipperEpoch: number;
}
export interface Tokens {
    issue(claims: TokenClaims): Promise<string>;
    /** The claims, or null where the token is forged, malformed, expired or not meant for this API. */
    verify(token: string): Promise<TokenClaims | null>;
    lifetimeSeconds: number;
}
export interface TokenOptions {
    secret: string;
    /** Verifies along, while the secret is being rotated. */
    previousSecret?: string | undefined;
    lifetimeMs: number;
}
/** Short-lived access tokens: JWT with HS256 (RFC 7519). */
export declare function createTokens({ secret, previousSecret, lifetimeMs }: TokenOptions): Tokens;
