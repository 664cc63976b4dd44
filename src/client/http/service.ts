import { version } from '../api/generated.js';
import type { Fetch, Service } from './exchange.js';
import { ParcelhookError } from '../errors.js';

export interface ServiceOptions {
  /** Address of the service, such as `https://parcelhook.example.com`. */
  url: string;
  /** Limit of one try. Default: 10,000. */
  timeoutMs?: number | undefined;
  /** Tries after the first, for requests that can be repeated safely. Default: 3. */
  retries?: number | undefined;
  /** Limit of a whole call: login, tries, and the waits between them. Default: 60,000. */
  totalTimeoutMs?: number | undefined;
  /** Used instead of the global `fetch`. */
  fetch?: Fetch | undefined;
  userAgent?: string | undefined;
}

export interface Limits {
  timeoutMs: number;
  retries: number;
  totalTimeoutMs: number;
}

/** The service at `url`. Throws a TypeError that does not show the URL if it is invalid. */
export function serviceAt({ url, fetch, userAgent }: ServiceOptions): Service {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new TypeError('url must be the address of the service, such as https://parcelhook.example.com');
  }
  return {
    base: parsed.origin + parsed.pathname.replace(/\/+$/, ''),
    // Resolved at each call, so that a global set later is used.
    fetch: fetch ?? ((...request) => globalThis.fetch(...request)),
    userAgent: validHeader('user-agent', userAgent ?? `parcelhook-client/${version}`),
  };
}

export const limitsOf = (options: ServiceOptions): Limits => ({
  timeoutMs: options.timeoutMs ?? 10_000,
  retries: options.retries ?? 3,
  totalTimeoutMs: options.totalTimeoutMs ?? 60_000,
});

/** An option that is misspelt must not be ignored. Throws a TypeError that names the options there are. */
export function refuseUnknown(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new TypeError(`Unknown option ${unknown.join(', ')}; the options are ${known.join(', ')}.`);
}

export const serviceOptions = ['url', 'timeoutMs', 'retries', 'totalTimeoutMs', 'fetch', 'userAgent'];

// The checks below throw a TypeError that does not show the value: it may be a secret.

export function nonEmpty(name: string, value: string): string {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is required.`);
  return value;
}

export function validHeader(name: string, value: string): string {
  try {
    new Headers({ [name]: value });
  } catch {
    throw new TypeError(`${JSON.stringify(name)} is not a valid header name, or its value is invalid.`);
  }
  return value;
}

export function validToken(name: string, value: string): string {
  if (!/^[\x21-\x7e]+$/.test(nonEmpty(name, value))) {
    throw new TypeError(`${name} must be printable ASCII without spaces.`);
  }
  return value;
}

export interface Credentials {
  /** `Authorization` of the next request. */
  header(): Promise<string>;
  discard(header: string): boolean;
}

/** Credentials that do not expire, such as an operator's token. */
export const fixedCredentials = (header: string): Credentials => ({
  header: () => Promise.resolve(header),
  discard: () => false,
});

interface Session {
  header: string;
  renewAtMs: number;
}

const marginMs = 60_000;

/**
 * Tokens from `login`: the first on first use, a new one shortly before the old one expires or after it was discarded.
 * Concurrent callers share one login, which continues if one of them stops waiting.
 */
export function loginCredentials(login: () => Promise<{ token: string; expiresIn: string }>): Credentials {
  let session: Session | null = null;
  let pendingLogin: Promise<Session> | null = null;

  async function renew(): Promise<Session> {
    const startedAtMs = Date.now();
    const { token, expiresIn } = await login();
    const lifetimeMs = Number(expiresIn) * 1_000;
    if (!/^[\x21-\x7e]+$/.test(token) || !(lifetimeMs >= 0)) {
      throw new ParcelhookError('The login response has no valid token.', {
        code: 'UNEXPECTED_ANSWER',
        status: 200,
      });
    }
    const renewAtMs = startedAtMs + lifetimeMs - Math.min(marginMs, lifetimeMs / 10);
    session = { header: `Bearer ${token}`, renewAtMs };
    return session;
  }

  return {
    async header() {
      if (session && Date.now() < session.renewAtMs) return session.header;
      pendingLogin ??= renew().finally(() => (pendingLogin = null));
      return (await pendingLogin).header;
    },
    discard(header) {
      if (session?.header === header) session = null;
      return true;
    },
  };
}
