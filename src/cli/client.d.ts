import { type Detail } from '../client/index.js';
/** The service answered, and the answer is no. `code` is the envelope's status; unset if it had no envelope. */
export declare class Refused extends Error {
    readonly code?: string | undefined;
    readonly error?: {
        message: string;
        details?: Detail[];
    } | undefined;
    constructor(message: string, code?: string | undefined, error?: {
        message: string;
        details?: Detail[];
    } | undefined);
}
/** The service cannot be reached or says that it cannot work now. */
export declare class Unreachable extends Error {
}
export interface PostOptions {
    /** The request may be sent again without harm: connection errors and 503 are retried then. */
    repeatable?: boolean;
    timeoutMs?: number;
}
export interface OperatorClient {
    get(path: string): Promise<Record<string, unknown>>;
    /** `json` is sent as it is. */
    post(path: string, json: string, options?: PostOptions): Promise<Record<string, unknown>>;
    patch(path: string, json: string): Promise<Record<string, unknown>>;
    delete(path: string): Promise<Record<string, unknown>>;
}
/**
 * The operator API at `url`. Calls answer the envelope's `data` for any 2xx and throw Refused or Unreachable
 * otherwise; both have a message to show as it is.
 */
export declare function createClient({ url, token }: {
    url: string;
    token: string;
}): OperatorClient;
