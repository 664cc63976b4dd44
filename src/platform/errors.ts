export interface Detail {
  path: string;
  message: string;
}

/** `status` is a code of docs/api.md; `headers` are added to the response. */
export class ApiError extends Error {
  constructor(
    readonly httpStatus: number,
    readonly status: string,
    message: string,
    readonly extra: { details?: Detail[]; headers?: Record<string, string> } = {},
  ) {
    super(message);
  }
}

/** The program cannot start until this is corrected: it prints the message and exits with 78 (EX_CONFIG). */
export class ConfigError extends Error {}

export const invalidRequest = (details: Detail[]) =>
  new ApiError(400, 'INVALID_REQUEST', 'The request is not valid; see details.', { details });

/** The message may name what is absent or malformed, never which part was wrong. */
export const unauthorized = (
  challenge: 'Bearer' | 'Basic' = 'Bearer',
  message = 'The key or the token is not valid, or the token has expired: log in again.',
) =>
  new ApiError(401, 'UNAUTHORIZED', message, {
    headers: {
      'WWW-Authenticate': `${challenge} realm="parcelhook"${challenge === 'Basic' ? ', charset="UTF-8"' : ''}`,
    },
  });

export const forbidden = () =>
  new ApiError(403, 'FORBIDDEN', 'The token does not belong to the account of this key.');

export const suspended = () => new ApiError(403, 'FORBIDDEN', 'This account is suspended.');

export const insufficientScope = (token: 'operator token' | 'token', needed: string) =>
  new ApiError(403, 'FORBIDDEN', `This ${token} does not allow that: the scope ${needed} is required.`);

export const notFound = (what: string) => new ApiError(404, 'NOT_FOUND', `${what} was not found.`);

export const conflict = (message: string) => new ApiError(409, 'CONFLICT', message);

/** `Retry-After` is rounded up to whole seconds. */
export const tooManyRequests = (message: string, retryAfterSeconds: number) =>
  new ApiError(429, 'TOO_MANY_REQUESTS', message, {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
  });

export const unavailable = (message = 'A dependency of the service is unavailable; nothing was accepted.') =>
  new ApiError(503, 'UNAVAILABLE', message, { headers: { 'Retry-After': '1' } });

export const isUnavailable = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 'UNAVAILABLE';

export const methodNotAllowed = (allow: string, message = `This endpoint accepts ${allow}.`) =>
  new ApiError(405, 'METHOD_NOT_ALLOWED', message, { headers: { Allow: allow } });

export const readOnlyRoute = (): never => {
  throw methodNotAllowed('GET, HEAD');
};

/** The code of an error of Node or PostgreSQL (`ENOENT`, `28P01`), or an empty string. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

/** Describes an error without the values of a statement or the content of a request. */
export function describeError(error: unknown): string {
  if (error instanceof ApiError && error.cause !== undefined)
    return `${error.status}: ${describeError(error.cause)}`;
  const { code = '', message, name } = (error ?? {}) as { code?: string | number } & Partial<Error>;
  if (message === undefined) return String(error);
  const text = message || String(name);
  return text.includes(String(code)) ? text : `${code} ${text}`;
}
