import got, { RequestError, TimeoutError } from 'got';
import pRetry from 'p-retry';
import { z } from 'zod';
import { version } from '../version.js';

const timeoutMs = 10_000;
const retries = { retries: 3, minTimeout: 250, factor: 2 };
const unavailable = [502, 503, 504]; // what a proxy answers for a service that is away, too

const success = z.object({ data: z.record(z.string(), z.unknown()) });
const failure = z.object({
  status: z.string(),
  error: z.object({
    message: z.string(),
    requestId: z.string().optional(),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  }),
});
type Failure = z.output<typeof failure>;

/** The service answered, and the answer is no. `code` is the envelope's status; unset if it had no envelope. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly code?: string,
    readonly error?: Failure['error'],
  ) {
    super(message);
  }
}

/** The service cannot be reached or says that it cannot work now. `retry` is false after a timeout. */
export class Unreachable extends Error {
  constructor(
    message: string,
    readonly retry = true,
  ) {
    super(message);
  }
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
export function createClient({ url, token }: { url: string; token: string }): OperatorClient {
  const { origin, pathname } = new URL(url);
  const base = origin + pathname.replace(/\/+$/, '');
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'user-agent': `parcelhook-operator/${version}`,
  };

  async function once(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body: string | undefined,
    limitMs: number,
  ) {
    try {
      const answer = await got(base + path, {
        method,
        headers,
        ...(body !== undefined && { body }),
        timeout: { request: limitMs },
        retry: { limit: 0 },
        throwHttpErrors: false,
        followRedirect: false,
      });
      return dataOf(base, answer.statusCode, answer.body, answer.headers['retry-after']);
    } catch (error) {
      throw error instanceof RequestError ? unreachable(base, error, limitMs) : error;
    }
  }

  const retried = (request: () => Promise<Record<string, unknown>>) =>
    pRetry(request, {
      ...retries,
      shouldRetry: ({ error }) => error instanceof Unreachable && error.retry,
    });

  return {
    get: (path) => retried(() => once('GET', path, undefined, timeoutMs)),
    post(path, json, options = {}) {
      const request = () => once('POST', path, json, options.timeoutMs ?? timeoutMs);
      return options.repeatable ? retried(request) : request();
    },
    patch: (path, json) => retried(() => once('PATCH', path, json, timeoutMs)),
    delete: (path) => once('DELETE', path, undefined, timeoutMs), // again, what is gone would be refused
  };
}

function dataOf(base: string, httpStatus: number, body: string, retryAfter: string | undefined) {
  const answer = parseJson(body);
  if (httpStatus >= 200 && httpStatus < 300) {
    const parsed = success.safeParse(answer);
    if (parsed.success) return parsed.data.data;
    throw new Refused(`${base} answered ${httpStatus}, but not as Parcelhook does. Is --url right?`);
  }
  const { data: failed } = failure.safeParse(answer);
  const said = failed ? `${httpStatus} ${failed.status}: ${failed.error.message}` : `HTTP ${httpStatus}`;
  const message = [`${base} answered ${said}`, ...notes(httpStatus, failed, retryAfter)].join('\n  ');
  if (unavailable.includes(httpStatus)) throw new Unreachable(message);
  throw new Refused(message, failed?.status, failed?.error);
}

function notes(httpStatus: number, failed: Failure | undefined, retryAfter: string | undefined): string[] {
  const lines = failed?.error.details?.map(({ path, message }) => `${path}: ${message}`) ?? [];
  if (httpStatus === 401) lines.push('Is --token or OPERATOR_TOKEN one that the service was started with?');
  if (!failed) lines.push('Is --url right?');
  if (httpStatus === 429 && retryAfter) lines.push(`retry after: ${retryAfter} s`);
  if (failed?.error.requestId) lines.push(`request id: ${failed.error.requestId}`);
  return lines;
}

function unreachable(base: string, error: RequestError, limitMs: number): Unreachable {
  if (error instanceof TimeoutError) {
    return new Unreachable(`${base} did not answer within ${limitMs / 1_000} s.`, false);
  }
  return new Unreachable(
    `${base} cannot be reached (${error.code}). Is the service running, and --url or PARCELHOOK_URL right?`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
