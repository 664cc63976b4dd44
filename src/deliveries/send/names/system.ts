import { lookup } from 'node:dns/promises';
import { isTooMany, tooMany, type Found, type Query } from './query.js';
import { createSemaphore } from './semaphore.js';

/**
 * `getaddrinfo` cannot be cancelled and takes one of the two threads that libuv has for such calls in all. One is left
 * to the connections to PostgreSQL and Redis.
 */
const atOnce = 1;
const longestMs = 5_000;

/** Asks the machine, which knows the hosts file and search domains. What it does not answer in time has failed. */
export function createSystemQuery(): (hostname: string, shipperId: string) => Query {
  const room = createSemaphore(atOnce, atOnce);
  return (hostname, shipperId) => {
    let cancel = () => {};
    const found = new Promise<Found>((resolve) => {
      const failed = (failure: string) => resolve({ failure, isSilent: failure === 'ETIMEOUT' });
      const withdraw = room.ask(shipperId, (done) => {
        lookup(hostname, { all: true, verbatim: true })
          .then(
            (addresses) => resolve(isTooMany(addresses) ? tooMany : { addresses, lastsMs: 0 }),
            (error: NodeJS.ErrnoException) => failed(String(error.code)),
          )
          .finally(done);
      });
      cancel = () => {
        withdraw();
        failed('ETIMEOUT');
      };
    });
    const timer = setTimeout(cancel, longestMs);
    return { found: found.finally(() => clearTimeout(timer)), cancel };
  };
}
