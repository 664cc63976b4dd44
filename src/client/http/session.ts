import { ParcelhookError } from '../errors.js';

/** What proves who is calling. */
export interface Credentials {
  /** `Authorization` of the next request. */
  header(): Promise<string>;
  /** Told of a 401: whether another header may do better. */
  refused(header: string): boolean;
}

/** What does not end, such as an operator's token. */
export const fixedCredentials = (header: string): Credentials => ({
  header: () => Promise.resolve(header),
  refused: () => false,
});

interface Session {
  header: string;
  renewAtMs: number;
}

const marginMs = 60_000;

/**
 * A token of `login`, for as long as it is good: got when it is first needed and again before it ends or after it was
 * refused. Callers at the same time share one login; it goes on for the others where one of them waits no longer.
 */
export function loggedIn(login: () => Promise<{ token: string; expiresIn: string }>): Credentials {
  let session: Session | null = null;
  let underWay: Promise<Session> | null = null;

  async function begin(): Promise<Session> {
    const startedAtMs = Date.now();
    const { token, expiresIn } = await login();
    const lifetimeMs = Number(expiresIn) * 1_000;
    if (!/^[\x21-\x7e]+$/.test(token) || !(lifetimeMs >= 0)) {
      throw new ParcelhookError('Login answered no token.', { code: 'UNEXPECTED_ANSWER', status: 200 });
    }
    const renewAtMs = startedAtMs + lifetimeMs - Math.min(marginMs, lifetimeMs / 10);
    session = { header: `Bearer ${token}`, renewAtMs };
    return session;
  }

  return {
    async header() {
      if (session && Date.now() < session.renewAtMs) return session.header;
      underWay ??= begin().finally(() => (underWay = null));
      return (await underWay).header;
    },
    refused(header) {
      if (session?.header === header) session = null;
      return true;
    },
  };
}
