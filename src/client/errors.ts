import type { components } from './api/generated.js';

/** `error.details` of an answer: a wrong field and what would be right. */
export interface Detail {
  path: string;
  message: string;
}

/**
 * What went wrong: a code of the API; or, where no answer of the API came, `UNREACHABLE` (no connection, or it broke),
 * `TIMEOUT`, `UNEXPECTED_ANSWER` (not in the form of the API, too large, or a redirect); or `INVALID_SIGNATURE`.
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

/** Every failure of this package. Neither the message nor any field holds a key, password, token or secret. */
export class ParcelhookError extends Error {
  override readonly name = 'ParcelhookError';
  readonly code: ErrorCode;
  /** HTTP status of the answer; null where none came. */
  readonly status: number | null;
  /** Name it when you ask for help. */
  readonly requestId: string | null;
  /** Every wrong field of what was not valid. */
  readonly details: Detail[];
  /** What the service said of when to try again. */
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

const passing: (number | null)[] = [429, 502, 503, 504];

/** Whether the same request may well succeed later. */
export const isPassing = (error: unknown): error is ParcelhookError =>
  error instanceof ParcelhookError &&
  (error.code === 'UNREACHABLE' || error.code === 'TIMEOUT' || passing.includes(error.status));
