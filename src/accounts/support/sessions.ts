import { suspended, unauthorized } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import { createAccountCache } from '../account-cache.js';
import { newLinkToken, sha256 } from '../credentials.js';
import { readSupportSessions, type SupportSession } from './store.js';

export type SupportSessions = ReturnType<typeof createSupportSessions>;

/** No token of a user begins so. */
const prefix = 'support_';

export const newSupportToken = (): string => prefix + newLinkToken(undefined);

export const isSupportToken = (text: string): boolean => text.startsWith(prefix);

/** The operator's sessions in portals of shippers. */
export function createSupportSessions(db: Database) {
  const sessions = createAccountCache((hashes) => readSupportSessions(db, hashes));
  /** Null if it has ended. */
  const find = async (token: string): Promise<SupportSession | null> => {
    const session = await sessions.get(sha256(token).toString('hex'));
    return session && session.shipperStatus !== 'REMOVED' && session.endsAt.getTime() > Date.now()
      ? session
      : null;
  };
  return {
    find,
    /** As of at most eight seconds ago. 401: it has ended; 403: the shipper is suspended. */
    authenticate: async (token: string): Promise<SupportSession> => {
      const session = await find(token);
      if (!session) throw unauthorized();
      if (session.shipperStatus === 'SUSPENDED') throw suspended();
      return session;
    },
    /** Call it after each change of an account by this process. */
    clear: sessions.clear,
  };
}
