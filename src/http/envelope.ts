import type { ApiError } from '../platform/errors.js';

/** The specification's sample; it changes when the shape of answers does. */
const version = '1.0.0';

/** What a handler answers. `timestampMs` is given only where an earlier answer is repeated. */
export interface Answer {
  httpStatus?: 200 | 201 | 202;
  data: object;
  processId?: string;
  timestampMs?: number;
}

/** The specification's envelope: version, status, processId (order integration only), timestamp, data. */
export const successBody = ({ httpStatus, data, processId, timestampMs }: Answer) => ({
  version,
  status: httpStatus === 201 ? 'CREATED' : 'OK',
  ...(processId !== undefined && { processId }),
  timestamp: timestampMs ?? Date.now(),
  data,
});

/** The envelope of a failure (contract, section 2). */
export const failureBody = (error: ApiError, requestId: string) => ({
  version,
  status: error.status,
  timestamp: Date.now(),
  error: {
    message: error.message,
    requestId,
    ...(error.extra.details && { details: error.extra.details }),
  },
});

/** A moment in the form of answers: ISO 8601 to the second with an explicit offset, `2026-11-21T12:00:00+00:00`. */
export const isoOffset = (moment: Date | null): string | null =>
  moment === null ? null : moment.toISOString().replace(/(\.000)?Z$/, '+00:00');
