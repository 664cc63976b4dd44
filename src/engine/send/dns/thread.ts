/** The program of the thread that `resolver.ts` starts. */
import type { RecordWithTtl } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createGate } from '../../../platform/limits/gate.js';
import { TOO_MANY_ADDRESSES } from '../errors.js';
import type { Found, LookupCommand, LookupOptions, LookupReport } from './resolver.js';

/** A cancelled one still resolves. */
interface Lookup {
  found: Promise<Found>;
  cancel(): void;
}

/** More addresses than any receiver has; a response with more is refused as a whole. */
const maxAddresses = 32;
const tooMany: Found = { failure: TOO_MANY_ADDRESSES, isSilent: false };
const isTooMany = (addresses: readonly unknown[]) => addresses.length > maxAddresses;

/** A packet may get lost: the next tries come after 1 s and 3 s. */
const firstTryMs = 1_000;
const tries = 3;
/** The limit of a lookup by DNS, however many servers there are, and of a lookup by the machine. */
const timeoutMs = 5_000;
/** RFC 8305, 3: connections begin with one family if the response about the other is later than that. */
const resolutionDelayMs = 50;

const { servers, systemToo } = workerData as LookupOptions;
/**
 * `getaddrinfo` cannot be cancelled and occupies one of only two threads that libuv uses for such calls. The other one
 * is left to the connections to PostgreSQL and Redis.
 */
const systemGate = createGate({ concurrency: 1 });
const underWay = new Map<number, Lookup>();

parentPort!.on('message', ({ id, begin }: LookupCommand) => {
  if (!begin) return underWay.get(id)?.cancel();
  const report = (found: Found, isLast: boolean) =>
    parentPort!.postMessage({ id, found, isLast } satisfies LookupReport);
  const begun = lookUp(begin.hostname, begin.shipperId, (half) => report(half, false));
  underWay.set(id, begun);
  void begun.found.then((found) => {
    underWay.delete(id);
    report(found, true);
  });
});

function lookUp(hostname: string, shipperId: string, reportHalf: (half: Found) => void): Lookup {
  let current = lookUpByDns(hostname, reportHalf);
  let isCancelled = false;
  const found = current.found.then((byDns) => {
    // A name that gets no response from DNS would only block others in the single slot of the machine's lookup.
    if (isCancelled || !systemToo || !('failure' in byDns) || byDns.isSilent || byDns === tooMany)
      return byDns;
    current = lookUpBySystem(hostname, shipperId);
    return current.found;
  });
  return {
    found,
    cancel: () => {
      isCancelled = true;
      current.cancel();
    },
  };
}

type Response = PromiseSettledResult<RecordWithTtl[]>;

/**
 * IPv4 comes first. Each lookup has its own channel (20 µs): it can be cancelled alone, its port is unpredictable, and
 * a server's silence about one name does not count against it for another.
 */
function lookUpByDns(hostname: string, reportHalf: (half: Found) => void): Lookup {
  const resolver = new Resolver({ timeout: firstTryMs, tries });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  const timers = [setTimeout(cancel, timeoutMs)];
  const byFamily = [
    resolver.resolve4(hostname, { ttl: true }),
    resolver.resolve6(hostname, { ttl: true }),
  ] as const;
  for (const [index, response] of byFamily.entries())
    response.then(
      (records) => {
        if (isTooMany(records)) return cancel();
        const half: Response[] = [awaited, awaited];
        half[index] = { status: 'fulfilled', value: records };
        timers.push(setTimeout(() => reportHalf(combine(half)), resolutionDelayMs));
      },
      () => undefined,
    );
  const found = Promise.allSettled(byFamily).then((responses) => {
    timers.forEach(clearTimeout);
    return combine(responses);
  });
  return { found, cancel };
}

const codeOf = (response: Response): string =>
  response.status === 'rejected' ? String((response.reason as NodeJS.ErrnoException).code) : 'ENODATA';
const awaited: Response = { status: 'rejected', reason: { code: 'ETIMEOUT' } };
/** These say that there is no address; any other failure leaves it open. */
const isKnown = (response: Response) => ['ENODATA', 'ENOTFOUND'].includes(codeOf(response));

function combine(responses: Response[]): Found {
  if (responses.some((response) => response.status === 'fulfilled' && isTooMany(response.value)))
    return tooMany;
  const records = responses.flatMap((response, index) =>
    response.status === 'fulfilled'
      ? response.value.map(({ address, ttl }) => ({ address, ttl, family: index === 0 ? 4 : 6 }))
      : [],
  );
  if (isTooMany(records)) return tooMany;
  if (records.length > 0) {
    const ttlMs = records.reduce((least, { ttl }) => Math.min(least, ttl * 1_000), Infinity);
    const addresses = records.map(({ address, family }) => ({ address, family }));
    return { addresses, ttlMs, isHalf: !responses.every(isKnown) };
  }
  const codes = responses.map(codeOf);
  return {
    failure: [...new Set(codes)].join(', '),
    isSilent: codes.some((code) => code === 'ETIMEOUT' || code === 'ECANCELLED'),
  };
}

/** The machine knows the hosts file and search domains. */
function lookUpBySystem(hostname: string, shipperId: string): Lookup {
  let cancel = () => {};
  const found = new Promise<Found>((resolve) => {
    const failed = (failure: string) => resolve({ failure, isSilent: failure === 'ETIMEOUT' });
    const start = (leave: () => void) =>
      void lookup(hostname, { all: true, verbatim: true })
        .then(
          (addresses) => resolve(isTooMany(addresses) ? tooMany : { addresses, ttlMs: 0, isHalf: false }),
          (error: NodeJS.ErrnoException) => failed(String(error.code)),
        )
        .finally(leave);
    const ticket = systemGate.ask(shipperId, { start });
    cancel = () => {
      ticket.withdraw();
      failed('ETIMEOUT');
    };
  });
  const timer = setTimeout(cancel, timeoutMs);
  return { found: found.finally(() => clearTimeout(timer)), cancel };
}
