import { ParcelhookError } from '../errors.js';
import { exchange, type Service } from './exchange.js';
import type { Envelope } from './answer.js';
import { withRetries } from './retry.js';
import type { Credentials } from './session.js';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** For a single call; what is not said is as the client was made. */
export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Of one try. */
  timeoutMs?: number | undefined;
  /** Tries after the first. */
  retries?: number | undefined;
  /** Of all tries and the waits between them. */
  totalTimeoutMs?: number | undefined;
}

export interface SendOptions extends CallOptions {
  /** Values for the `{names}` of the path. */
  path?: Record<string, string>;
  /** What is undefined is left out. */
  query?: object;
  headers?: Record<string, string>;
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  json?: string;
  /** The request may be sent twice without harm. Any but a POST may, unless said otherwise. */
  repeatable?: boolean;
  /** What a repeated DELETE answers where the thing is gone: an earlier try's answer may have been lost. */
  gone?: object;
}

export type Send = (method: Method, path: string, options?: SendOptions) => Promise<Envelope>;

export interface Limits {
  timeoutMs: number;
  retries: number;
  totalTimeoutMs: number;
}

/** Sends requests to a service, each with a bound on its tries and its time. */
export function createSend(service: Service, credentials: Credentials, limits: Limits): Send {
  return async (method, path, options = {}) => {
    const { signal, json, body } = options;
    const timeoutMs = options.timeoutMs ?? limits.timeoutMs;
    const target = targetOf(path, options, service.key);
    const content = json ?? (body === undefined ? undefined : JSON.stringify(body));
    // A login has tries of its own: they are not multiplied by those of the request.
    let authorization = await credentials.header(signal);
    const endsAtMs = performance.now() + (options.totalTimeoutMs ?? limits.totalTimeoutMs);

    const once = () =>
      exchange(service, {
        method: method.toUpperCase(),
        target,
        headers: { ...options.headers, authorization },
        body: content,
        timeoutMs: Math.max(1, Math.ceil(Math.min(timeoutMs, endsAtMs - performance.now()))),
        signal,
      });

    const attempt = async (failures: number): Promise<Envelope> => {
      try {
        return await once();
      } catch (error) {
        if (options.gone && failures > 0 && isStatus(error, 404)) return { data: options.gone };
        // A 401 means that nothing was done: with another token the same may be sent again, whatever it is.
        if (!isStatus(error, 401) || !credentials.refused(authorization)) throw error;
        authorization = await credentials.header(signal);
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

function targetOf(path: string, { path: values = {}, query = {} }: SendOptions, key?: string): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => segment(name, values[name]));
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, key })) {
    if (value !== undefined) given.append(name, String(value));
  }
  return given.size === 0 ? filled : `${filled}?${given.toString()}`;
}

/** A URL would resolve dots, and an empty one is another endpoint. */
function segment(name: string, value: string | undefined): string {
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${name} must be an id.`);
  return encodeURIComponent(value);
}
