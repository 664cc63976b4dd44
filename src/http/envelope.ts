import type { ApiError, Detail } from '../platform/errors.js';

/** The version of the specification's sample; it changes when the shape of responses does. */
const version = '1.0.0';

/** `timestampMs` is set only where an earlier response is repeated. */
export interface RouteResult {
  httpStatus?: 200 | 201 | 202;
  /** Null where the endpoint says so. */
  data: object | null;
  processId?: string;
  timestampMs?: number;
}

/** The specification's envelope: version, status, processId (order integration only), timestamp, data; `warnings` if any. */
export const successBody = (
  { httpStatus, data, processId, timestampMs }: RouteResult,
  warnings: Detail[] = [],
) => ({
  version,
  status: httpStatus === 201 ? 'CREATED' : 'OK',
  ...(processId !== undefined && { processId }),
  timestamp: timestampMs ?? Date.now(),
  data,
  ...(warnings.length > 0 && { warnings }),
});

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

/** The form of times in responses: ISO 8601 with an explicit offset, `2026-11-21T12:00:00+00:00`. */
export const isoOffset = (time: Date | null): string | null =>
  time === null ? null : time.toISOString().replace(/(\.000)?Z$/, '+00:00');
