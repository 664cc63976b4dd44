import { ParcelhookError } from '../errors.js';

export interface Credentials {
  /** `Authorization` of the next request. */
  header(): Promise<string>;
  /** Discards a header that got a 401. Returns whether `header()` may give a better one. */
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
