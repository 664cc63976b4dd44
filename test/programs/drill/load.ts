import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { registerAccount, registerWebhook } from '../../support/client.js';
import { startDnsServer } from '../../support/dns-server.js';
import { duplicates, nothingLost } from '../chaos/checker.js';
import { startReceiver } from '../chaos/load/journal.js';
import { startLoad, type Load } from '../chaos/load/load.js';
import type { AcceptedEvent, Entry, Hook } from '../chaos/model.js';
import { drained } from '../chaos/run.js';
import { sql } from '../chaos/world/engines.js';
import { serviceOn, type Service } from '../chaos/world/service.js';
import type { DrillOptions, Scene } from './drill.js';

export interface Deployment {
  service: Service;
  /** Applies load from before `strike` until after it. `strike` resolves with its duration in seconds. */
  scene(name: string, strike: () => Promise<number>): Promise<Scene>;
  /** Starts it; the one before is over. */
  startLoad(): Load;
  /** Waits until nothing is owed any more. These come on top of those of the calls before. */
  arrivals(accepted: AcceptedEvent[]): Promise<Arrivals>;
  journal(): Entry[];
  /** Whether an order was accepted since the time (epoch, in ms). */
  hasAcceptedSince(at: number): boolean;
}

type Arrivals = Pick<Scene, 'accepted' | 'lost' | 'twice' | 'violations'>;

/** An api, a worker, a shipper and its receiver. The queue is in PostgreSQL, unless `env` names a Redis. */
export async function deploy(
  databaseUrl: string,
  options: DrillOptions,
  env: Record<string, string> = {},
): Promise<Deployment> {
  const { folder, closing, eventsPerSecond } = options;
  const dns = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }));
  closing.push(dns.close);
  const service = await serviceOn(databaseUrl, env.REDIS_URL, dns.address, null, closing, { env });
  await service.startWorker(env);
  const receiver = await startReceiver(join(mkdtempSync(join(folder, 'journal-')), 'journal'), closing);
  const account = await registerAccount(service);
  const path = '/h/0-all';
  const registered = await registerWebhook(account, new URL(path, receiver.url).href, {
    interests: ['*'],
    ordering: 'SHIPMENT',
  });
  const hooks: Hook[] = [{ path, shipper: 0, interests: null, ordered: true, ...registered }];
  await receiver.expect(1, hooks, false);
  let before = 0;
  let seed = 0;
  let load: Load | undefined;
  closing.push(() => load?.stop(0));
  const query = { sql: <Row>(text: string) => sql<Row>(databaseUrl, text) };
  const begin = () => (load = startLoad(service.url, [account], eventsPerSecond, (seed += 1)));
  const arrivals = async (accepted: AcceptedEvent[]): Promise<Arrivals> => {
    const unsettled = await drained(query, before + accepted.length);
    const trackingIds = new Set(accepted.map(({ trackingId }) => trackingId));
    const journal = receiver.journal().filter(({ trackingId }) => trackingIds.has(trackingId));
    before += accepted.length;
    const lost = nothingLost({ hooks, stops: [], accepted, journal });
    return {
      accepted: accepted.length,
      lost: lost.length,
      twice: duplicates(journal),
      violations: [...lost, ...unsettled, ...service.deserters()],
    };
  };
  return {
    service,
    startLoad: begin,
    arrivals,
    journal: receiver.journal,
    hasAcceptedSince: (at) => load!.responses.some((one) => one.httpStatus === 201 && one.at >= at),
    scene: async (name, strike) => {
      options.say(`${name} …`);
      const running = begin();
      const calm = () => new Promise((resolve) => setTimeout(resolve, calmMs));
      await calm();
      const seconds = await strike();
      await calm();
      const neverAccepted = await running.stop();
      const arrived = await arrivals(running.accepted);
      const violations = [...arrived.violations, ...neverAccepted];
      return { name, ...arrived, seconds, figures: [], violations };
    },
  };
}

const calmMs = 10_000;
