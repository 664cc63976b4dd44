import type { SecretBox } from './secrets.js';
/** How the value of a webhook's own header is shown; sent back, it stands for the value that is kept. */
export declare const masked = "\u2022\u2022\u2022\u2022";
export type OwnHeaders = Record<string, string>;
/** Before a sealed text where a plain one may stand too: neither an address nor a header's value may hold it. */
export declare const sealMark = "\u2022";
/** Seals and opens what a webhook must not show at rest: its secrets, its address's query, its headers' values. */
export interface AtRest {
    sealSecret(webhookId: string, secret: string): string;
    openSecret(webhookId: string, stored: string): string;
    /** The address is readable up to its query. */
    sealAddress(webhookId: string, address: string): string;
    openAddress(webhookId: string, stored: string): string;
    sealHeaders(webhookId: string, headers: OwnHeaders): OwnHeaders;
    openHeaders(webhookId: string, stored: OwnHeaders): OwnHeaders;
}
/** Opens the plain text of earlier versions as well. What no key opens throws. */
export declare function atRest({ seal, open }: Pick<SecretBox, 'seal' | 'open'>): AtRest;
/** Where it is called, as log and notices show it. */
export declare const withoutQuery: (address: string) => string;
/** The same in SQL. */
export declare const withoutQuerySql: (column: string) => string;
export declare const maskHeaders: (headers: OwnHeaders) => OwnHeaders;
