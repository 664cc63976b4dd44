/** One wrong field: where it is (`recipientLocation.street`) and what would be right. */
export interface Detail {
  path: string;
  message: string;
}

/** An answer other than success. `status` is the code of the contract's table; `headers` go with the answer. */
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

/**
 * A fault that somebody has to correct before the program can start: it prints the message and exits with 78
 * (EX_CONFIG).
 */
export class ConfigError extends Error {}

export const invalidRequest = (details: Detail[], message = 'The request is not valid; see details.') =>
  new ApiError(400, 'INVALID_REQUEST', message, { details });

/** The message may say what is absent or malformed, never which part was wrong (contract, section 2). */
export const unauthorized = (
  challenge: 'Bearer' | 'Basic' = 'Bearer',
  message = 'The key, credentials or token are wrong or expired.',
) =>
  new ApiError(401, 'UNAUTHORIZED', message, {
    headers: { 'WWW-Authenticate': `${challenge} realm="parcelhook"` },
  });

export const forbidden = () =>
  new ApiError(403, 'FORBIDDEN', 'The token does not belong to the account of this key.');

export const suspended = () => new ApiError(403, 'FORBIDDEN', 'This account is suspended.');

export const tooSmallScope = (needed: string) =>
  new ApiError(403, 'FORBIDDEN', `This operator token does not allow that: it takes the scope ${needed}.`);

export const notFound = (what: string) => new ApiError(404, 'NOT_FOUND', `${what} was not found.`);

export const conflict = (message: string) => new ApiError(409, 'CONFLICT', message);

/** A part of a second counts as a whole one. */
export const tooManyRequests = (message: string, retryAfterSeconds: number) =>
  new ApiError(429, 'TOO_MANY_REQUESTS', message, {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
  });

export const unavailable = (message = 'A part the service needs is out of reach; nothing was accepted.') =>
  new ApiError(503, 'UNAVAILABLE', message, { headers: { 'Retry-After': '1' } });

export const isUnavailable = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 'UNAVAILABLE';

/** `allow` lists the methods the route takes, as in `GET, HEAD`. */
export const methodNotAllowed = (allow: string) =>
  new ApiError(405, 'METHOD_NOT_ALLOWED', `This route takes ${allow}.`, { headers: { Allow: allow } });

/** The last handler of a route that is only read: any other method is 405. */
export const onlyRead = (): never => {
  throw methodNotAllowed('GET, HEAD');
};

/** What a log line may say of an error: never a statement's values or a request's content. */
export function describeError(error: unknown): string {
  if (error instanceof ApiError && error.cause !== undefined)
    return `${error.status}: ${describeError(error.cause)}`;
  const { code = '', message, name } = (error ?? {}) as { code?: string | number } & Partial<Error>;
  if (message === undefined) return String(error);
  const text = message || String(name);
  return text.includes(String(code)) ? text : `${code} ${text}`;
}
