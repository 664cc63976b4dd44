import { readFileSync } from 'node:fs';
import type { LookupAddress } from 'node:dns';
import type { DnsResolver } from '../../src/engine/send/dns/resolver.js';
import type { DestinationPolicy, Destinations } from '../../src/engine/send/destination.js';

export interface CorpusRow {
  id: string;
  verdict: string;
  url: string;
  dns: string;
  reason: string;
}

/** The policy that the corpus assumes; see its header. */
export const corpusPolicy: DestinationPolicy = {
  allowPrivateTargets: false,
  allowHttpTargets: true,
  allowedPorts: [80, 443, 8080, 8443],
  isDenied: () => false,
  publicUrl: null,
};

export const developmentPolicy: DestinationPolicy = { ...corpusPolicy, allowPrivateTargets: true };
export const developmentDestinations: Destinations = {
  ...{ allowPrivateTargets: true, allowHttpTargets: true, allowedPorts: [], deniedNetworks: [] },
  publicUrl: 'https://parcelhook.example.org/',
};

export function corpusRows(...verdicts: string[]): CorpusRow[] {
  return readFileSync(new URL('../fixtures/ssrf-corpus.tsv', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [id = '', verdict = '', url = '', , dns = '', reason = ''] = line.split('\t');
      return { id, verdict, url: JSON.parse(`"${url}"`) as string, dns, reason };
    })
    .filter(({ verdict }) => verdicts.includes(verdict));
}

export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** Resolves from the corpus' DNS column; the n-th call gets the n-th result. */
export function stubResolver(dns: string): Resolve {
  let calls = 0;
  return async (hostname) => {
    const call = ++calls;
    await new Promise(setImmediate);
    if (['NXDOMAIN', 'SERVFAIL', 'NODATA'].includes(dns))
      throw Object.assign(new Error(hostname), { code: 'DNS' });
    return dns
      .split('; ')
      .filter((part) => applies(part, call))
      .flatMap(addresses);
  };
}

/** All its answers are whole. */
export const stubDns = (resolve: Resolve): DnsResolver => ({
  resolve: async (hostname) => ({ addresses: await resolve(hostname), rest: null }),
  close: () => undefined,
});

export const noDns = stubDns((hostname) => Promise.reject(new Error(`${hostname} was looked up`)));

function applies(part: string, call: number): boolean {
  const bound = /^n(<|>=)(\d+)/.exec(part);
  if (bound) return bound[1] === '<' ? call < Number(bound[2]) : call >= Number(bound[2]);
  if (part.startsWith('odd')) return call % 2 === 1;
  return !part.startsWith('even') || call % 2 === 0;
}

function addresses(part: string): LookupAddress[] {
  return [...part.matchAll(/\b(A|AAAA) (x999 public|[\da-f.:]+)/g)].flatMap(([, type, address = '']) =>
    address === 'x999 public'
      ? Array.from({ length: 999 }, (_, i) => ({ address: `93.184.${i >> 8}.${i & 255}`, family: 4 }))
      : [{ address, family: type === 'A' ? 4 : 6 }],
  );
}
