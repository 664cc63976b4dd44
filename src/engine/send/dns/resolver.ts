import path from 'node:path';
import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { createGate, type Ticket } from '../../../platform/limits/gate.js';
import type { ErrorLog } from '../../../platform/telemetry/logger.js';
import { TOO_MANY_ADDRESSES } from '../errors.js';
import { Worker } from 'node:worker_threads';
import { describeError } from '../../../platform/errors.js';
import { packageFolder } from '../../../platform/version.js';

/**
 * `ttlMs`: how long it may be reused. `isHalf`: the servers have told nothing about the other family. `isSilent`: no
 * response came in time.
 */
export type Found = Known | { failure: string; isSilent: boolean };

interface Known {
  addresses: LookupAddress[];
  ttlMs: number;
  isHalf: boolean;
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
  /** Before the last one there may be a half. */
  isLast: boolean;
}

type Report = (found: Found, isLast: boolean) => void;

const cancelled: Found = { failure: 'ECANCELLED', isSilent: true };
const silence: Found = { failure: 'ETIMEOUT', isSilent: true };

/** The default heap would take 30 MB more. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

/**
 * Looks names up in a thread (`thread.ts`): a response may have thousands of addresses, and reading it would block the
 * event loop for 20 ms. The first lookup starts the thread. If it dies, its lookups fail; the next one starts another.
 */
function createLookupThread(options: LookupOptions, logger: ErrorLog) {
  const underWay = new Map<number, Report>();
  let thread: Worker | null = null;
  let lastId = 0;
  let isClosed = false;

  const endAll = () => {
    thread = null;
    for (const report of underWay.values()) report(cancelled, true);
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
    started.on('message', ({ id, found, isLast }: LookupReport) => {
      underWay.get(id)?.(found, isLast);
      if (isLast) underWay.delete(id);
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
    /** Returns what cancels the lookup. A cancelled one still reports. */
    begin: (hostname: string, shipperId: string, report: Report): (() => void) => {
      const id = (lastId += 1);
      if (isClosed || !post({ id, begin: { hostname, shipperId } })) {
        queueMicrotask(() => report(cancelled, true));
        return () => undefined;
      }
      underWay.set(id, report);
      return () => {
        if (underWay.has(id)) post({ id });
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

export interface Answer {
  addresses: LookupAddress[];
  /** Null if these are all; else the answer for both families, rejected if the other one remains unknown. */
  rest: Promise<Answer> | null;
}

export interface DnsResolver {
  /** Rejects with the code `DNS`, right before the requester's deadline at the latest. */
  resolve(hostname: string, requester: Requester): Promise<Answer>;
  close(): void;
}

const maxLookups = 256;
const maxLookupsPerShipper = 64;
const maxCachedNames = 5_000;
const maxCachedAddresses = 40_000;
const maxTtlMs = 30_000;
const failureTtlMs = 5_000;
/** A shorter silence says nothing about a name's servers. */
const leastSilenceMs = 250;
/** At the deadline itself, the attempt would end first, and without the reason. */
const beforeDeadlineMs = 10;
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
  waiters: Set<Report>;
  tickets: Map<string, Ticket>;
  /** Null until a shipper has a slot for it. */
  cancel: (() => void) | null;
  begunAtMs: number;
  half: Found | null;
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
    shared.begunAtMs = performance.now();
    shared.cancel = thread.begin(hostname, shipperId, (found, isLast) => {
      if (isLast) leave();
      if (sharedLookups.get(hostname) !== shared) return; // abandoned
      if (isLast) {
        sharedLookups.delete(hostname);
        store(cache, hostname, found);
      } else shared.half = found;
      for (const report of [...shared.waiters]) report(found, isLast);
    });
  };

  const abandon = (hostname: string, shared: SharedLookup, report: Report) => {
    shared.waiters.delete(report);
    if (sharedLookups.get(hostname) !== shared) return;
    const silentMs = performance.now() - shared.begunAtMs;
    if (shared.half === null && silentMs >= leastSilenceMs) store(cache, hostname, silence);
    if (shared.waiters.size > 0) return;
    sharedLookups.delete(hostname);
    withdraw(shared);
    shared.cancel?.();
  };

  /** The first shipper among the waiters to get a slot begins the lookup for all. */
  const join = (hostname: string, shipperId: string, report: Report): SharedLookup => {
    const shared = sharedLookups.get(hostname) ?? newLookup();
    sharedLookups.set(hostname, shared);
    shared.waiters.add(report);
    if (shared.cancel || shared.tickets.has(shipperId)) return shared;
    const start = (leave: () => void) => begin(hostname, shared, shipperId, leave);
    const ticket = gate.ask(shipperId, { start });
    if (!shared.cancel) shared.tickets.set(shipperId, ticket);
    return shared;
  };

  return {
    resolve: async (hostname, requester) => {
      if (isLocalhost(hostname)) return { addresses: loopback, rest: null };
      const found = cache.get(hostname);
      if (found === undefined) return untilFound(hostname, requester, true);
      if ('addresses' in found) return answerOf(hostname, found);
      throw notResolved(hostname, found.failure);
    },
    close: () => {
      for (const shared of sharedLookups.values()) {
        withdraw(shared);
        shared.cancel?.();
        for (const report of [...shared.waiters]) report(cancelled, true);
      }
      sharedLookups.clear();
      thread.close();
    },
  };

  function untilFound(hostname: string, requester: Requester, takesHalf: boolean): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const report: Report = (found, isLast) => {
        if (!isLast && !takesHalf) return;
        clearTimeout(timer);
        shared.waiters.delete(report);
        if ('failure' in found) return reject(notResolved(hostname, found.failure));
        if (isLast || !found.isHalf) return resolve(answerOf(hostname, found));
        const rest = untilFound(hostname, requester, false);
        rest.catch(() => undefined); // nobody may need it
        resolve({ addresses: found.addresses, rest });
      };
      const timer = setTimeout(
        () => {
          abandon(hostname, shared, report);
          reject(notResolved(hostname, 'ETIMEOUT'));
        },
        Math.max(0, requester.deadlineAtMs - performance.now() - beforeDeadlineMs),
      );
      const shared = join(hostname, requester.shipperId, report);
      if (shared.half !== null) report(shared.half, false);
    });
  }
}

const newLookup = (): SharedLookup => ({
  waiters: new Set(),
  tickets: new Map(),
  cancel: null,
  begunAtMs: Infinity,
  half: null,
});

function withdraw({ tickets }: SharedLookup): void {
  for (const ticket of tickets.values()) ticket.withdraw();
  tickets.clear();
}

const notResolved = (hostname: string, failure: string): Error =>
  Object.assign(new Error(`${hostname} was not resolved: ${failure}`), {
    code: 'DNS',
    detail: failure === TOO_MANY_ADDRESSES ? failure : null,
  });

/** The answer of a lookup that has ended: nothing more will be said about the other family. */
function answerOf(hostname: string, { addresses, isHalf }: Known): Answer {
  if (!isHalf) return { addresses, rest: null };
  const rest = Promise.reject<Answer>(notResolved(hostname, 'ETIMEOUT'));
  rest.catch(() => undefined); // nobody may need it
  return { addresses, rest };
}

function store(cache: LRUCache<string, Found>, hostname: string, found: Found): void {
  const ttl = 'addresses' in found ? ttlOfAddresses(found) : ttlOfFailure(found.failure);
  if (ttl > 0) cache.set(hostname, found, { ttl });
}

/** Half of the addresses are kept no longer than a failure: then the other family is asked about again. */
const ttlOfAddresses = ({ ttlMs, isHalf }: Known) => Math.min(ttlMs, isHalf ? failureTtlMs : maxTtlMs);
const ttlOfFailure = (failure: string) => (failure === TOO_MANY_ADDRESSES ? tooManyTtlMs : failureTtlMs);
