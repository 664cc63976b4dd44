import { ParcelhookError, type Detail, type ErrorCode } from '../errors.js';

/** The form of every success. */
export interface Envelope {
  data: object;
  processId?: string;
}

type Answer = Pick<Response, 'status' | 'headers'>;

export function successOf(base: string, answer: Answer, text: string): Envelope {
  const body = parsed(text) as Partial<Envelope> | null;
  const { data } = body ?? {};
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return body as Envelope;
  throw unexpected(base, answer);
}

/** The error that an answer other than success stands for. */
export function failureOf(base: string, answer: Answer, text: string): ParcelhookError {
  const body = parsed(text) as { status?: unknown; error?: Record<string, unknown> } | null;
  const { message, requestId, details } = body?.error ?? {};
  if (typeof body?.status !== 'string' || typeof message !== 'string') return unexpected(base, answer);
  return new ParcelhookError(message, {
    code: body.status as ErrorCode,
    status: answer.status,
    requestId: typeof requestId === 'string' ? requestId : null,
    details: Array.isArray(details) ? details.filter(isDetail) : [],
    retryAfterMs: retryAfterMs(answer),
  });
}

const unexpected = (base: string, answer: Answer) =>
  new ParcelhookError(`${base} answered ${answer.status}, but not as Parcelhook does.`, {
    code: 'UNEXPECTED_ANSWER',
    status: answer.status,
    requestId: answer.headers.get('x-request-id'),
    retryAfterMs: retryAfterMs(answer),
  });

const isDetail = (value: unknown): value is Detail =>
  typeof (value as Detail | null)?.path === 'string' && typeof (value as Detail).message === 'string';

/** Seconds, or a date. */
function retryAfterMs({ headers }: Answer): number | null {
  const text = headers.get('retry-after') ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
