import { version } from '../api/generated.js';
import { checkedHeader } from './checked.js';
import type { Fetch, Service } from './exchange.js';
import type { Limits } from './send.js';

export interface ServiceOptions {
  /** Where the service is, such as `https://parcelhook.example.com`. */
  url: string;
  /** Of one try: 10,000 unless given. */
  timeoutMs?: number | undefined;
  /** Tries after the first, where a request may be sent twice without harm: 3 unless given. */
  retries?: number | undefined;
  /** Of a whole call, its login, all tries and the waits between them: 60,000 unless given. */
  totalTimeoutMs?: number | undefined;
  /** Instead of the global one. */
  fetch?: Fetch | undefined;
  userAgent?: string | undefined;
}

/** The service at `url`. Throws TypeError where that is no URL, without showing it. */
export function serviceAt({ url, fetch, userAgent }: ServiceOptions): Service {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new TypeError('url must be where the service is, such as https://parcelhook.example.com');
  }
  return {
    base: parsed.origin + parsed.pathname.replace(/\/+$/, ''),
    // Looked up at each call, so that what is set later holds.
    fetch: fetch ?? ((...request) => globalThis.fetch(...request)),
    userAgent: checkedHeader('user-agent', userAgent ?? `parcelhook-client/${version}`),
  };
}

export const limitsOf = (options: ServiceOptions): Limits => ({
  timeoutMs: options.timeoutMs ?? 10_000,
  retries: options.retries ?? 3,
  totalTimeoutMs: options.totalTimeoutMs ?? 60_000,
});
