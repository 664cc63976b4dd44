import type { Env } from './terminal.js';
/** What the caller asked for cannot be done as written; the message says what would be right. Exit code 2. */
export declare class UsageError extends Error {
}
/** Where the service is: `--url`, PARCELHOOK_URL, else this machine at PORT or 8080. */
export declare function serviceUrl(given: string | undefined, env: Env): string;
/** The operator's token: `--token`, OPERATOR_TOKEN, else what embedded mode wrote under DATA_DIR. */
export declare function operatorToken(given: string | undefined, env: Env): string;
/** For an id in a path: a URL would resolve dots, and an empty one is another endpoint. */
export declare function idArgument(text: string): string;
export declare function wholeNumberArgument(text: string): number;
export declare function numberArgument(text: string): number;
export declare function jsonArgument(text: string): unknown;
