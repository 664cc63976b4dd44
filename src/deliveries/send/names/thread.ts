/** A program of its own: the thread that `lookups.ts` starts. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Ask, LookupOptions, Told } from './lookups.js';
import { queryDns, tooMany, type Query } from './query.js';
import { createSystemQuery } from './system.js';

const { servers, systemToo } = workerData as LookupOptions;
const querySystem = createSystemQuery();
const underWay = new Map<number, Query>();

parentPort!.on('message', ({ id, query }: Ask) => {
  if (!query) return underWay.get(id)?.cancel();
  const begun = begin(query.hostname, query.shipperId);
  underWay.set(id, begun);
  void begun.found.then((found) => {
    underWay.delete(id);
    parentPort!.postMessage({ id, found } satisfies Told);
  });
});

function begin(hostname: string, shipperId: string): Query {
  let query = queryDns(hostname, servers);
  let cancelled = false;
  const found = query.found.then((byDns) => {
    // A name that DNS is silent about would only keep others waiting there.
    if (cancelled || !systemToo || !('failure' in byDns) || byDns.isSilent || byDns === tooMany) return byDns;
    query = querySystem(hostname, shipperId);
    return query.found;
  });
  return {
    found,
    cancel: () => {
      cancelled = true;
      query.cancel();
    },
  };
}
