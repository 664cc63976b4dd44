import path from 'node:path';
import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { createGate, type Ticket } from '../../../platform/limits/gate.js';
import type { ErrorLog } from '../../../platform/telemetry/logger.js';
import { TOO_MANY_ADDRESSES } from '../errors.js';
import { Worker } from 'node:worker_threads';
import { describeError } from '../../../platform/errors.js';
import { packageFolder } from '../../../platform/version.js';

/** `ttlMs`: how long it may be reused. `isSilent`: no response came in time. */
export type Found = { addresses: LookupAddress[]; ttlMs: number } | { failure: string; isSilent: boolean };

/** A lookup under way. A cancelled one still resolves. */
export interface Lookup {
  found: Promise<Found>;
  cancel(): void;
}

export interface LookupOptions {
  /** Name servers, `address` or `address:port`; if not set, those of the machine. */
  servers?: readonly string[] | undefined;
  /** Asks the machine for names that DNS does not know: they may be in its hosts file. */
  systemToo: boolean;
}

/** A lookup to begin or, with an id alone, one to cancel. */
export interface LookupCommand {
  id: number;
  begin?: { hostname: string; shipperId: string };
}

export interface LookupReport {
  id: number;
  found: Found;
}

export interface LookupThread {
  begin(hostname: string, shipperId: string): Lookup;
  close(): void;
}

const cancelled: Found = { failure: 'ECANCELLED', isSilent: true };

/** The default heap would take 30 MB more. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

/**
 * Looks names up in a thread (`thread.ts`): a response may have thousands of addresses, and reading it would block the
 * event loop for 20 ms. The first lookup starts the thread. If it dies, its lookups fail; the next one starts another.
 */
function createLookupThread(options: LookupOptions, logger: ErrorLog): LookupThread {
  const underWay = new Map<number, (found: Found) => void>();
  let thread: Worker | null = null;
  let lastId = 0;
  let isClosed = false;

  const endAll = () => {
    thread = null;
    for (const report of underWay.values()) report(cancelled);
    underWay.clear();
  };
  const start = (): Worker => {
    const started = new Worker(path.join(packageFolder, 'dist/lookups.js'), {
      workerData: options,
      resourceLimits,
      execArgv: [],
      env: {},
    });
    started.unref();
    started.on('message', ({ id, found }: LookupReport) => {
      underWay.get(id)?.(found);
      underWay.delete(id);
    });
    started.on('error', (error) =>
      logger.error({ error: describeError(error) }, 'DNS thread failed; the next lookup starts another'),
    );
    started.on('exit', () => {
      if (thread === started) endAll();
    });
    return started;
  };
  const post = (command: LookupCommand): boolean => {
    try {
      (thread ??= start()).postMessage(command);
      return true;
    } catch (error) {
      logger.error({ error: describeError(error) }, 'DNS thread not started; the lookup fails');
      return false;
    }
  };

  return {
    begin: (hostname, shipperId) => {
      const id = (lastId += 1);
      if (isClosed || !post({ id, begin: { hostname, shipperId } }))
        return { found: Promise.resolve(cancelled), cancel: () => undefined };
      const found = new Promise<Found>((resolve) => underWay.set(id, resolve));
      return {
        found,
        cancel: () => {
          if (underWay.has(id)) post({ id });
        },
      };
    },
    close: () => {
      isClosed = true;
      void thread?.terminate();
      endAll();
    },
  };
}

/** `deadline` is by performance.now(). */
export interface Requester {
  shipperId: string;
  deadlineAtMs: number;
}

export interface DnsResolver {
  /** Rejects with the code `DNS`, at the requester's deadline at the latest. */
  resolve(hostname: string, requester: Requester): Promise<LookupAddress[]>;
  close(): void;
}

const maxLookups = 256;
const maxLookupsPerShipper = 64;
const maxCachedNames = 5_000;
const maxCachedAddresses = 40_000;
const maxTtlMs = 30_000;
const failureTtlMs = 5_000;
/** Such a response is expensive to read and seldom a mistake that is soon corrected. */
const tooManyTtlMs = 60_000;

/** RFC 6761, 6.3: these names always mean the machine itself. */
const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
const isLocalhost = (hostname: string) => /^(.+\.)?localhost$/.test(hostname);

/** Shared by all attempts that want the same name. */
interface SharedLookup {
  waiters: Set<(found: Found) => void>;
  tickets: Map<string, Ticket>;
  lookup: Lookup | null;
}

/**
 * Resolves names outside libuv's pool, which a silent name server would block for all. Attempts that want the same name
 * share a lookup; the last one to leave cancels it. Concurrent lookups are bounded, in all and by shipper. Caching is
 * safe: the addresses are checked again for each connection.
 */
export function createDnsResolver(options: LookupOptions, logger: ErrorLog): DnsResolver {
  const cache = new LRUCache<string, Found>({
    max: maxCachedNames,
    maxSize: maxCachedAddresses,
    sizeCalculation: (found) => ('addresses' in found ? found.addresses.length : 1),
  });
  const sharedLookups = new Map<string, SharedLookup>();
  const gate = createGate({ concurrency: maxLookups, concurrencyPerKey: maxLookupsPerShipper });
  const thread = createLookupThread(options, logger);

  const begin = (hostname: string, shared: SharedLookup, shipperId: string, leave: () => void) => {
    withdraw(shared);
    shared.lookup = thread.begin(hostname, shipperId);
    void shared.lookup.found.then((found) => {
      leave();
      if (sharedLookups.get(hostname) !== shared) return; // abandoned
      sharedLookups.delete(hostname);
      store(cache, hostname, found);
      for (const report of shared.waiters) report(found);
    });
  };

  const abandon = (hostname: string, shared: SharedLookup, report: (found: Found) => void) => {
    shared.waiters.delete(report);
    if (shared.waiters.size > 0 || sharedLookups.get(hostname) !== shared) return;
    sharedLookups.delete(hostname);
    withdraw(shared);
    shared.lookup?.cancel();
  };

  /** The first shipper among the waiters to get a slot begins the lookup for all. */
  const join = (hostname: string, shipperId: string, report: (found: Found) => void): SharedLookup => {
    const shared = sharedLookups.get(hostname) ?? { waiters: new Set(), tickets: new Map(), lookup: null };
    sharedLookups.set(hostname, shared);
    shared.waiters.add(report);
    if (shared.lookup || shared.tickets.has(shipperId)) return shared;
    const start = (leave: () => void) => begin(hostname, shared, shipperId, leave);
    const ticket = gate.ask(shipperId, { start });
    if (!shared.lookup) shared.tickets.set(shipperId, ticket);
    return shared;
  };

  return {
    resolve: async (hostname, { shipperId, deadlineAtMs }) => {
      if (isLocalhost(hostname)) return loopback;
      const found = cache.get(hostname) ?? (await untilFound(hostname, shipperId, deadlineAtMs));
      if ('addresses' in found) return found.addresses;
      throw notResolved(hostname, found.failure);
    },
    close: () => {
      for (const shared of sharedLookups.values()) {
        withdraw(shared);
        shared.lookup?.cancel();
        for (const report of shared.waiters) report({ failure: 'ECANCELLED', isSilent: true });
      }
      sharedLookups.clear();
      thread.close();
    },
  };

  function untilFound(hostname: string, shipperId: string, deadlineAtMs: number): Promise<Found> {
    return new Promise((resolve) => {
      const report = (found: Found) => {
        clearTimeout(timer);
        resolve(found);
      };
      const timer = setTimeout(
        () => {
          abandon(hostname, shared, report);
          resolve({ failure: 'ETIMEOUT', isSilent: true });
        },
        Math.max(0, deadlineAtMs - performance.now()),
      );
      const shared = join(hostname, shipperId, report);
    });
  }
}

function withdraw({ tickets }: SharedLookup): void {
  for (const ticket of tickets.values()) ticket.withdraw();
  tickets.clear();
}

const notResolved = (hostname: string, failure: string): Error =>
  Object.assign(new Error(`${hostname} was not resolved: ${failure}`), {
    code: 'DNS',
    detail: failure === TOO_MANY_ADDRESSES ? failure : null,
  });

function store(cache: LRUCache<string, Found>, hostname: string, found: Found): void {
  const ttl = 'addresses' in found ? Math.min(found.ttlMs, maxTtlMs) : ttlOfFailure(found.failure);
  if (ttl > 0) cache.set(hostname, found, { ttl });
}

const ttlOfFailure = (failure: string) => (failure === TOO_MANY_ADDRESSES ? tooManyTtlMs : failureTtlMs);
