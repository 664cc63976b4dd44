import { lookup } from 'node:dns/promises';
import { createGate } from '../../../platform/limits/gate.js';
import { isTooMany, tooMany, type Found, type Query } from './query.js';

const longestMs = 5_000;

/** Asks the machine, which knows the hosts file and search domains. What it does not answer in time has failed. */
export function createSystemQuery(): (hostname: string, shipperId: string) => Query {
  // `getaddrinfo` cannot be cancelled, and occupies one of only two threads that libuv uses for such calls. The other
  // one is left to the connections to PostgreSQL and Redis.
  const room = createGate({ concurrency: 1 });
  return (hostname, shipperId) => {
    let cancel = () => {};
    const found = new Promise<Found>((resolve) => {
      const failed = (failure: string) => resolve({ failure, isSilent: failure === 'ETIMEOUT' });
      const start = (leave: () => void) =>
        void lookup(hostname, { all: true, verbatim: true })
          .then(
            (addresses) => resolve(isTooMany(addresses) ? tooMany : { addresses, lastsMs: 0 }),
            (error: NodeJS.ErrnoException) => failed(String(error.code)),
          )
          .finally(leave);
      const ticket = room.ask(shipperId, { start });
      cancel = () => {
        ticket.withdraw();
        failed('ETIMEOUT');
      };
    });
    const timer = setTimeout(cancel, longestMs);
    return { found: found.finally(() => clearTimeout(timer)), cancel };
  };
}
