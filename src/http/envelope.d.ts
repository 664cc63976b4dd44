import type { ApiError } from '../platform/errors.js';
/** What a handler answers. `timestampMs` is given only where an earlier answer is repeated. */
export interface Answer {
    httpStatus?: 200 | 201 | 202;
    data: object;
    processId?: string;
    timestampMs?: number;
}
/** The specification's envelope: version, status, processId (order integration only), timestamp, data. */
export declare const successBody: ({ httpStatus, data, processId, timestampMs }: Answer) => {
    version: string;
    status: string;
    processId?: string;
    timestamp: number;
    data: object;
};
/** The envelope of a failure (contract, section 2). */
export declare const failureBody: (error: ApiError, requestId: string) => {
    version: string;
    status: string;
    timestamp: number;
    error: {
        message: string;
        requestId: string;
        details?: import("../platform/errors.js").Detail[];
    };
};
/** A moment in the form of answers: ISO 8601 to the second with an explicit offset, `2026-11-21T12:00:00+00:00`. */
export declare const isoOffset: (moment: Date | null) => string | null;
