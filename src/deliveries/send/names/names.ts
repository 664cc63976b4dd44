import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { createGate, type Ticket } from '../../../platform/limits/gate.js';
import type { Logger } from '../../../platform/logger.js';
import { createLookups, type LookupOptions } from './lookups.js';
import { TOO_MANY_ADDRESSES, type Found, type Query } from './query.js';

/** Whose attempt a lookup is for, and when that ends, by performance.now(). */
export interface Asker {
  shipperId: string;
  deadlineAtMs: number;
}

export interface Names {
  /** All addresses of a name; rejects with the code `DNS`, at the deadline at the latest. */
  resolve(hostname: string, asker: Asker): Promise<LookupAddress[]>;
  /** Ends all lookups under way. */
  close(): void;
}

const maxAtOnce = 256;
const maxOfOneShipper = 64;
const remembered = 5_000;
/** Of all names that are remembered. */
const rememberedAddresses = 40_000;
const longestUseMs = 30_000;
const failureLastsMs = 5_000;
/** Such an answer is expensive to read, and seldom a mistake that is corrected in a moment. */
const tooManyLastsMs = 60_000;

/** RFC 6761, 6.3: these names always mean the machine itself. */
const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
const isLocalhost = (hostname: string) => /^(.+\.)?localhost$/.test(hostname);

interface Lookup {
  /** Called with what was found. */
  askers: Set<(found: Found) => void>;
  /** By shipper: its request for a free slot. */
  requests: Map<string, Ticket>;
  query: Query | null;
}

/**
 * Resolves names outside libuv's pool, where a name server that is silent would block everybody. Attempts that want the
 * same name share a lookup; the last one to leave cancels it. Lookups under way are bounded, in all and by shipper.
 * A remembered answer is no danger: whoever connects checks its addresses each time.
 */
export function createNames(options: LookupOptions, logger: Logger): Names {
  const known = new LRUCache<string, Found>({
    max: remembered,
    maxSize: rememberedAddresses,
    sizeCalculation: (found) => ('addresses' in found ? found.addresses.length : 1),
  });
  const lookups = new Map<string, Lookup>();
  const room = createGate({ concurrency: maxAtOnce, concurrencyPerKey: maxOfOneShipper });
  const named = createLookups(options, logger);

  const begin = (hostname: string, lookup: Lookup, shipperId: string, leave: () => void) => {
    withdraw(lookup);
    lookup.query = named.begin(hostname, shipperId);
    void lookup.query.found.then((found) => {
      leave();
      if (lookups.get(hostname) !== lookup) return; // nobody waited for it any more
      lookups.delete(hostname);
      remember(known, hostname, found);
      for (const tell of lookup.askers) tell(found);
    });
  };

  const abandon = (hostname: string, lookup: Lookup, tell: (found: Found) => void) => {
    lookup.askers.delete(tell);
    if (lookup.askers.size > 0 || lookups.get(hostname) !== lookup) return;
    lookups.delete(hostname);
    withdraw(lookup);
    lookup.query?.cancel();
  };

  /** Whichever of its askers' shippers has room first pays for it. */
  const join = (hostname: string, shipperId: string, tell: (found: Found) => void): Lookup => {
    const lookup = lookups.get(hostname) ?? { askers: new Set(), requests: new Map(), query: null };
    lookups.set(hostname, lookup);
    lookup.askers.add(tell);
    if (lookup.query || lookup.requests.has(shipperId)) return lookup;
    const start = (leave: () => void) => begin(hostname, lookup, shipperId, leave);
    const ticket = room.ask(shipperId, { start });
    if (!lookup.query) lookup.requests.set(shipperId, ticket);
    return lookup;
  };

  return {
    resolve: async (hostname, { shipperId, deadlineAtMs }) => {
      if (isLocalhost(hostname)) return loopback;
      const found = known.get(hostname) ?? (await untilFound(hostname, shipperId, deadlineAtMs));
      if ('addresses' in found) return found.addresses;
      throw notResolved(hostname, found.failure);
    },
    close: () => {
      for (const lookup of lookups.values()) {
        withdraw(lookup);
        lookup.query?.cancel();
        for (const tell of lookup.askers) tell({ failure: 'ECANCELLED', isSilent: true });
      }
      lookups.clear();
      named.close();
    },
  };

  function untilFound(hostname: string, shipperId: string, deadlineAtMs: number): Promise<Found> {
    return new Promise((resolve) => {
      const tell = (found: Found) => {
        clearTimeout(timer);
        resolve(found);
      };
      const timer = setTimeout(
        () => {
          abandon(hostname, lookup, tell);
          resolve({ failure: 'ETIMEOUT', isSilent: true });
        },
        Math.max(0, deadlineAtMs - performance.now()),
      );
      const lookup = join(hostname, shipperId, tell);
    });
  }
}

function withdraw({ requests }: Lookup): void {
  for (const ticket of requests.values()) ticket.withdraw();
  requests.clear();
}

const notResolved = (hostname: string, failure: string): Error =>
  Object.assign(new Error(`${hostname} was not resolved: ${failure}`), {
    code: 'DNS',
    detail: failure === TOO_MANY_ADDRESSES ? failure : null,
  });

function remember(known: LRUCache<string, Found>, hostname: string, found: Found): void {
  const ttl = 'addresses' in found ? Math.min(found.lastsMs, longestUseMs) : failureTtl(found.failure);
  if (ttl > 0) known.set(hostname, found, { ttl });
}

const failureTtl = (failure: string) => (failure === TOO_MANY_ADDRESSES ? tooManyLastsMs : failureLastsMs);
