/** One wrong field: where it is (`recipientLocation.street`) and what would be right. */
export interface Detail {
    path: string;
    message: string;
}
/** An answer other than success. `status` is the code of the contract's table; `headers` go with the answer. */
export declare class ApiError extends Error {
    readonly httpStatus: number;
    readonly status: string;
    readonly extra: {
        details?: Detail[];
        headers?: Record<string, string>;
    };
    constructor(httpStatus: number, status: string, message: string, extra?: {
        details?: Detail[];
        headers?: Record<string, string>;
    });
}
export declare const invalidRequest: (details: Detail[], message?: string) => ApiError;
/** The message may say what is absent or malformed, never which part was wrong (contract, section 2). */
export declare const unauthorized: (challenge?: 'Bearer' | 'Basic', message?: string) => ApiError;
export declare const forbidden: () => ApiError;
export declare const suspended: () => ApiError;
export declare const tooSmallScope: (needed: string) => ApiError;
export declare const notFound: (what: string) => ApiError;
export declare const conflict: (message: string) => ApiError;
/** A part of a second counts as a whole one. */
export declare const tooManyRequests: (message: string, retryAfterSeconds: number) => ApiError;
export declare const unavailable: (message?: string) => ApiError;
/** `allow` lists the methods the route takes, as in `GET, HEAD`. */
export declare const methodNotAllowed: (allow: string) => ApiError;
/** The last handler of a route that is only read: any other method is 405. */
export declare const onlyRead: () => never;
/** What a log line may say of an error: never a statement's values or a request's content. */
export declare function describeError(error: unknown): string;
