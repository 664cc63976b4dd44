import { ParcelhookError } from '../errors.js';
import { exchange, timeoutError, type Envelope, type Service } from './exchange.js';
import { maxTimerMs, waitFor, withRetries } from './retry.js';
import { refuseUnknown, validHeader, type Limits, type Credentials } from './service.js';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Options of a single call. They override those of the client. */
export interface CallOptions {
  /** Ends the call, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Limit of one try. */
  timeoutMs?: number | undefined;
  /** Tries after the first. */
  retries?: number | undefined;
  /** Limit of the whole call: login, tries, and the waits between them. */
  totalTimeoutMs?: number | undefined;
}

export interface SendOptions extends CallOptions {
  /** Values for the `{names}` of the path. */
  path?: Record<string, string>;
  /** Undefined values are left out. */
  query?: object;
  headers?: Record<string, string>;
  body?: unknown;
  /** Sent unchanged, instead of `body`. */
  json?: string;
  /** Whether the request can be repeated safely. Default: any but a POST. */
  repeatable?: boolean;
  /** `data` of a DELETE that a retry finds already done, because the earlier response was lost. */
  gone?: object;
}

const callOptions = ['signal', 'timeoutMs', 'retries', 'totalTimeoutMs'];
const requestOptions = ['path', 'query', 'headers', 'body', 'json', 'repeatable', 'gone'];

export type Send = (method: Method, path: string, options?: SendOptions) => Promise<Envelope>;

/** Sends requests to a service, each with limits on its tries and its time. */
export function createSend(service: Service, credentials: Credentials, limits: Limits): Send {
  return async (method, path, options = {}) => {
    const { signal, json, body, headers = {} } = options;
    signal?.throwIfAborted();
    refuseUnknown(options, [...callOptions, ...requestOptions]);
    refuseInvalidDates(body);
    const timeoutMs = options.timeoutMs ?? limits.timeoutMs;
    const totalTimeoutMs = options.totalTimeoutMs ?? limits.totalTimeoutMs;
    const endsAtMs = performance.now() + totalTimeoutMs;
    const target = targetOf(path, options, service.key);
    for (const header of Object.entries(headers)) validHeader(...header);
    const content = json ?? (body === undefined ? undefined : JSON.stringify(body));
    const leftMs = () => endsAtMs - performance.now();
    const callTimeout = () => timeoutError(service.base, totalTimeoutMs);

    const authorize = () =>
      waitFor(credentials.header(), { waitMs: leftMs(), timeoutError: callTimeout, signal });
    // The token is fetched outside the retries: a login has retries of its own.
    let authorization = await authorize();
    let isResponseLost = false;

    const once = async (): Promise<Envelope> => {
      if (leftMs() < 1) throw callTimeout();
      try {
        return await exchange(service, {
          method: method.toUpperCase(),
          target,
          headers: { ...headers, authorization },
          body: content,
          timeoutMs: Math.ceil(Math.min(timeoutMs, leftMs(), maxTimerMs)),
          signal,
        });
      } catch (error) {
        if (options.gone && isResponseLost && isStatus(error, 404)) return { data: options.gone };
        isResponseLost ||= mayHaveActed(error);
        throw error;
      }
    };

    const attempt = async (): Promise<Envelope> => {
      try {
        return await once();
      } catch (error) {
        // A 401 means that nothing was done, so any request can be repeated.
        if (!isStatus(error, 401) || !credentials.discard(authorization)) throw error;
        authorization = await authorize();
        return once();
      }
    };

    const repeatable = options.repeatable ?? method !== 'post';
    const retries = repeatable ? (options.retries ?? limits.retries) : 0;
    return withRetries(attempt, { retries, endsAtMs, signal });
  };
}

const isStatus = (error: unknown, status: number) =>
  error instanceof ParcelhookError && error.status === status;

/**
 * True if the service's own response is missing, so the request may have taken effect. 502 and 504 come from a proxy.
 */
const mayHaveActed = (error: unknown) =>
  error instanceof ParcelhookError && (error.status === null || error.status === 502 || error.status === 504);

function targetOf(path: string, { path: values = {}, query = {} }: SendOptions, key?: string): string {
  refuseInvalidDates(query);
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => segment(name, values[name]));
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries<string | number | Date | undefined>({ ...query, key })) {
    if (value !== undefined) given.append(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return given.size === 0 ? filled : `${filled}?${given.toString()}`;
}

/** JSON would turn it into null. */
function refuseInvalidDates(values: unknown): void {
  if (typeof values !== 'object' || values === null) return;
  for (const [name, value] of Object.entries(values))
    if (value instanceof Date && Number.isNaN(value.getTime()))
      throw new TypeError(`${name} is an invalid Date.`);
}

/** Dots would be resolved by the URL; an empty segment would be another endpoint. */
function segment(name: string, value: string | undefined): string {
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
    throw new TypeError(`${name} is required, and cannot be . or ..`);
  return encodeURIComponent(value);
}
