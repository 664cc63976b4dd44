import type { LookupAddress, RecordWithTtl } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** What a lookup came to; `lastsMs` says how long it may be used again. */
export type Found = { addresses: LookupAddress[]; lastsMs: number } | { failure: string; isSilent: boolean };

export interface Query {
  found: Promise<Found>;
  /** Nobody wants to know any more. */
  cancel(): void;
}

/** More addresses than any receiver has; an answer with more is refused as a whole. */
const maxAddresses = 32;
export const TOO_MANY_ADDRESSES = 'TOO_MANY_ADDRESSES';
export const tooMany: Found = { failure: TOO_MANY_ADDRESSES, isSilent: false };

export const isTooMany = (addresses: readonly unknown[]) => addresses.length > maxAddresses;

/** A server is asked again after 1 s and after 3 s: a packet may get lost. */
const firstTryMs = 1_000;
const tries = 3;
/** However many servers there are. */
const longestMs = 5_000;
/** Servers that are silent about AAAA are common; an address to go to is there. */
const otherFamilyMs = 200;

/**
 * Asks DNS for all addresses of a name, IPv4 first. Each lookup has a channel of its own (20 µs): it is cancelled by
 * itself, its port cannot be foreseen, and a server's silence about one name is not held against it for another.
 */
export function queryDns(hostname: string, servers: readonly string[] | undefined): Query {
  const resolver = new Resolver({ timeout: firstTryMs, tries });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  const timers = [setTimeout(cancel, longestMs)];
  const byName = [
    resolver.resolve4(hostname, { ttl: true }),
    resolver.resolve6(hostname, { ttl: true }),
  ] as const;
  for (const answer of byName)
    answer.then(
      (records) => {
        if (isTooMany(records)) cancel();
        else timers.push(setTimeout(cancel, otherFamilyMs));
      },
      () => undefined,
    );
  const found = Promise.allSettled(byName).then((answers) => {
    timers.forEach(clearTimeout);
    return combine(answers);
  });
  return { found, cancel };
}

function combine(answers: PromiseSettledResult<RecordWithTtl[]>[]): Found {
  if (answers.some((answer) => answer.status === 'fulfilled' && isTooMany(answer.value))) return tooMany;
  const records = answers.flatMap((answer, index) =>
    answer.status === 'fulfilled'
      ? answer.value.map(({ address, ttl }) => ({ address, ttl, family: index === 0 ? 4 : 6 }))
      : [],
  );
  if (isTooMany(records)) return tooMany;
  if (records.length > 0) {
    const lastsMs = records.reduce((least, { ttl }) => Math.min(least, ttl * 1_000), Infinity);
    return { addresses: records.map(({ address, family }) => ({ address, family })), lastsMs };
  }
  const codes = answers.map((answer) =>
    answer.status === 'rejected' ? String((answer.reason as NodeJS.ErrnoException).code) : 'ENODATA',
  );
  return {
    failure: [...new Set(codes)].join(', '),
    isSilent: codes.some((code) => code === 'ETIMEOUT' || code === 'ECANCELLED'),
  };
}
