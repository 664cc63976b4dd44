import { ParcelhookError } from '../errors.js';
import type { Envelope } from './answer.js';
import { checkedHeader } from './checked.js';
import { exchange, timedOut, type Service } from './exchange.js';
import { withRetries } from './retry.js';
import type { Credentials } from './session.js';
import { longestTimerMs, within } from './waiting.js';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** For a single call; what is not said is as the client was made. */
export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Of one try. */
  timeoutMs?: number | undefined;
  /** Tries after the first. */
  retries?: number | undefined;
  /** Of the whole call: a login, all tries and the waits between them. */
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
    const { signal, json, body, headers = {} } = options;
    signal?.throwIfAborted();
    const timeoutMs = options.timeoutMs ?? limits.timeoutMs;
    const totalTimeoutMs = options.totalTimeoutMs ?? limits.totalTimeoutMs;
    const endsAtMs = performance.now() + totalTimeoutMs;
    const target = targetOf(path, options, service.key);
    for (const header of Object.entries(headers)) checkedHeader(...header);
    const content = json ?? (body === undefined ? undefined : JSON.stringify(body));
    const leftMs = () => endsAtMs - performance.now();
    const late = () => timedOut(service.base, totalTimeoutMs);

    const authorize = () => within(credentials.header(), { waitMs: leftMs(), late, signal });
    // A login has tries of its own: they are not multiplied by those of the request.
    let authorization = await authorize();
    let isAnswerLost = false;

    const once = async (): Promise<Envelope> => {
      if (leftMs() < 1) throw late(); // nobody would hear what it did
      try {
        return await exchange(service, {
          method: method.toUpperCase(),
          target,
          headers: { ...headers, authorization },
          body: content,
          timeoutMs: Math.ceil(Math.min(timeoutMs, leftMs(), longestTimerMs)),
          signal,
        });
      } catch (error) {
        if (options.gone && isAnswerLost && isStatus(error, 404)) return { data: options.gone };
        isAnswerLost ||= mayHaveActed(error);
        throw error;
      }
    };

    const attempt = async (): Promise<Envelope> => {
      try {
        return await once();
      } catch (error) {
        // A 401 means that nothing was done: with another token the same may be sent again, whatever it is.
        if (!isStatus(error, 401) || !credentials.refused(authorization)) throw error;
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

/** No answer came, or a proxy heard none: the service may have done what it was asked for. */
const mayHaveActed = (error: unknown) =>
  error instanceof ParcelhookError && (error.status === null || error.status === 502 || error.status === 504);

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
