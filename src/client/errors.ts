import type { components } from './api/generated.js';

/** One of a response's `error.details`: a wrong field and what would be right. */
export interface Detail {
  path: string;
  message: string;
}

/**
 * A code of the API; or `UNREACHABLE` (no connection, or it broke), `TIMEOUT`, `UNEXPECTED_ANSWER` (not in the API's
 * format, too large, a redirect, or http where the address says https); or `INVALID_SIGNATURE`.
 */
export type ErrorCode =
  | components['schemas']['Failure']['status']
  | 'UNREACHABLE'
  | 'TIMEOUT'
  | 'UNEXPECTED_ANSWER'
  | 'INVALID_SIGNATURE';

export interface ErrorFields {
  code: ErrorCode;
  status?: number | null;
  requestId?: string | null;
  details?: Detail[];
  retryAfterMs?: number | null;
}

/** Every failure of this package. Its message and fields have no key, password, token or secret. */
export class ParcelhookError extends Error {
  override readonly name = 'ParcelhookError';
  readonly code: ErrorCode;
  /** HTTP status of the response; null if there was none. */
  readonly status: number | null;
  /** Quote it when you ask for help. */
  readonly requestId: string | null;
  /** Every wrong field of the request. */
  readonly details: Detail[];
  /** The service's `Retry-After`. */
  readonly retryAfterMs: number | null;

  constructor(message: string, fields: ErrorFields) {
    super(message);
    this.code = fields.code;
    this.status = fields.status ?? null;
    this.requestId = fields.requestId ?? null;
    this.details = fields.details ?? [];
    this.retryAfterMs = fields.retryAfterMs ?? null;
  }
}

const transientStatuses: (number | null)[] = [429, 502, 503, 504];

/** Compares names, because this package's other entry has a class of its own. */
const isOurs = (error: unknown): error is ParcelhookError =>
  error instanceof Error && error.name === 'ParcelhookError';

/** Whether the same request may succeed later. */
export const isTransient = (error: unknown): error is ParcelhookError =>
  isOurs(error) &&
  (error.code === 'UNREACHABLE' || error.code === 'TIMEOUT' || transientStatuses.includes(error.status));
