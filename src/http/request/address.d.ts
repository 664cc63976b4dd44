import type { Request } from 'express';
/** Where a request comes from, as far as `TRUST_PROXY` lets it be known: an IPv4 address in its own form. */
export declare const addressOf: ({ ip }: Request) => string | null;
