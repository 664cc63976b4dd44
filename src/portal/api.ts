import { signal } from '@preact/signals';

/**
 * A response that is an error. `status` is HTTP's, 0 if none came. `details` name the fields of the body that are
 * wrong; their `path` is `recipientLocation.lat`.
 */
export interface ApiError extends Error {
  status: number;
  details: { path: string; message: string }[];
  requestId: string | null;
  /** The time after which another try makes sense; null if the service did not say. */
  retryAfterSeconds: number | null;
}

export const isApiError = (error: unknown): error is ApiError => error instanceof Error && 'details' in error;

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

interface CallOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  isLogin?: boolean;
}

/** Why reads wait at present; null while the service responds. The shell shows it above the page. */
export const outage = signal<{ message: string; retriesAt: number } | null>(null);

/** The session has ended: the shell shows the log-in dialog over the page, and calls wait until `renewSession`. */
export const isExpired = signal(false);

let renewal = Promise.withResolvers<void>();

export function renewSession(): void {
  isExpired.value = false;
  renewal.resolve();
  renewal = Promise.withResolvers<void>();
}

let cookieChange: Promise<unknown> = Promise.resolve();

/** Until `change` has ended, a read may be refused because it was sent with the earlier cookie. */
export function changeCookie(change: Promise<void>): Promise<void> {
  cookieChange = change.catch(() => {});
  return change;
}

/**
 * Calls the API as the browser's session and returns `data`. Throws an ApiError.
 *
 * A read (GET) is tried again until the service responds, for as long as the service is away or asks to wait. A write is tried
 * once: whether it happened is for the user to judge. Both wait for a new log-in where the session has ended.
 */
export async function call<Data>(
  method: Method,
  path: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<Data> {
  for (let attempt = 0; ; attempt++) {
    if (isExpired.value && !options.isLogin) await unlessAborted(renewal.promise, options.signal);
    const sentBefore = renewal;
    try {
      const data = await send(method, path, body, options);
      outage.value = null;
      return data as Data;
    } catch (error) {
      if (!isApiError(error)) throw error;
      if (error.status === 401 && !options.isLogin) {
        if (method === 'GET') await unlessAborted(cookieChange, options.signal);
        if (sentBefore === renewal) isExpired.value = true; // otherwise it was sent with an earlier cookie, and is sent again
        attempt = -1;
        continue;
      }
      if (method !== 'GET' || !isPassing(error.status)) throw error;
      const waitMs = (error.retryAfterSeconds ?? backoffSeconds[Math.min(attempt, 4)]!) * 1_000;
      outage.value = { message: error.message, retriesAt: Date.now() + waitMs };
      await unlessAborted(new Promise((resolve) => setTimeout(resolve, waitMs)), options.signal);
    }
  }
}

export const read = <Data>(path: string, signal?: AbortSignal): Promise<Data> =>
  call('GET', path, undefined, signal && { signal });

/** The first pages of a list, at most `maxPages`. Reads them one after another. */
export async function readPages<Page extends { nextCursor: string | null }>(
  pathOf: (cursor: string | null) => string,
  maxPages: number,
  signal?: AbortSignal,
): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await read<Page>(pathOf(cursor), signal);
    pages.push(page);
    cursor = page.nextCursor;
  } while (cursor && pages.length < maxPages);
  return pages;
}

/** `/v1/deliveries?status=FAILED`; leaves out what is undefined, null or empty. */
export function withQuery(path: string, values: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value != null && value !== '');
  const query = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return query ? `${path}?${query}` : path;
}

const backoffSeconds = [1, 2, 4, 8, 10];
const isPassing = (status: number) => status === 0 || status === 429 || (status >= 502 && status <= 504);

async function send(method: Method, path: string, body: unknown, options: CallOptions): Promise<unknown> {
  const isWrite = method !== 'GET';
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        accept: 'application/json',
        ...(isWrite && { 'parcelhook-csrf': '1' }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(options.signal && { signal: options.signal }),
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    throw apiError(0, isWrite ? writeWithoutResponse : withoutResponse, null, error);
  }
  const envelope = (await response.json().catch(() => null)) as Envelope | null;
  options.signal?.throwIfAborted();
  if (response.ok && envelope) return envelope.data;
  throw apiError(
    response.status,
    envelope?.error?.message ?? withoutResponse,
    response,
    undefined,
    envelope?.error,
  );
}

interface Envelope {
  data?: unknown;
  error?: { message: string; requestId?: string; details?: ApiError['details'] };
}

const withoutResponse = 'Parcelhook is not responding.';
const writeWithoutResponse = 'Parcelhook did not respond. Check whether it happened before you try again.';

function apiError(
  status: number,
  message: string,
  response: Response | null,
  cause?: unknown,
  error?: Envelope['error'],
): ApiError {
  const retryAfter = Number.parseInt(response?.headers.get('retry-after') ?? '', 10);
  return Object.assign(new Error(message, { cause }), {
    status,
    details: error?.details ?? [],
    requestId: error?.requestId ?? response?.headers.get('x-request-id') ?? null,
    retryAfterSeconds: Number.isNaN(retryAfter) ? null : retryAfter,
  });
}

function unlessAborted<Result>(promise: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (!signal) return promise;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener('abort', onAbort));
}
