import type { Database } from '../../platform/database/postgres.js';
import { forbidden, suspended, unauthorized } from '../../platform/errors.js';
import { createAccountCache } from '../principal-cache.js';
import { isProgramToken, sha256 } from '../credentials.js';
import { accountKeyExists } from '../shippers.js';
import { readPrograms, type Program } from './store.js';

export type Programs = ReturnType<typeof createPrograms>;

const cutOff =
  'The token is malformed: its last six characters do not fit those before them. Is it copied as a whole?';
const notValid =
  'The token is not valid, has expired or was revoked, or a `key` is beside it that is not valid.';

export function createPrograms(db: Database) {
  const programs = createAccountCache((hashes) => readPrograms(db, hashes));

  const fits = ({ keyHashes }: Program, keyHash: Buffer | null) =>
    keyHash === null || keyHashes.includes(keyHash.toString('base64url'));

  return {
    /**
     * The program that the token was made for, as of at most eight seconds ago. 403: the key is another shipper's, or the
     * shipper is suspended.
     */
    authenticate: async (token: string, accountKey: string | null): Promise<Program> => {
      if (!isProgramToken(token)) throw unauthorized('Bearer', cutOff);
      const keyHash = accountKey === null ? null : sha256(accountKey);
      const hash = sha256(token).toString('hex');
      let program = await programs.get(hash);
      if (program && !fits(program, keyHash)) program = await programs.getFresh(hash); // a rotation may be recent
      if (!program || program.shipperStatus === 'REMOVED' || performance.now() >= program.endsAt)
        throw unauthorized('Bearer', notValid);
      if (!fits(program, keyHash))
        throw (await accountKeyExists(db, keyHash!)) ? forbidden() : unauthorized('Bearer', notValid);
      if (program.shipperStatus === 'SUSPENDED') throw suspended();
      return program;
    },
    /** Call it after each change of an account by this process. */
    clear: programs.clear,
  };
}
