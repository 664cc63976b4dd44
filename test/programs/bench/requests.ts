import { setTimeout as sleep } from 'node:timers/promises';
import { sampleOrder, type Account } from '../../support/client.js';
import { operatorToken } from '../../support/process.js';
import { now } from './clock.js';
import type { Deployment } from './deployment.js';
import { createClient, encodeRequest, type Client, type Reply } from './lean-client.js';
import { closedLoop, openLoop } from './pace.js';

/** Times are by the clock of `now`. */
export interface SentLog {
  /** The times by tracking id: when it was first sent (or was due), and when it was accepted. */
  times: Map<string, { sentAt: number; respondedAt: number }>;
  /** How many responses had Retry-After (429, 503). */
  refused: number;
}

/** An account of a service, which gets its orders. */
interface Target {
  url: string;
  account: Pick<Account, 'accountKey' | 'token'>;
  /** The shipper's own number, the same for all orders. */
  shipperTrackingId?: string;
}

const againAfterMs = 200;
const takenTimeoutMs = 30_000;

/** Sends like a client that honours Retry-After. The time that takes counts. */
async function send(client: Client, request: Buffer, log: SentLog): Promise<Reply> {
  for (const until = now() + takenTimeoutMs; ; await sleep(againAfterMs)) {
    const reply = await client.send(request);
    if ((reply.status !== 503 && reply.status !== 429) || now() > until) return reply;
    log.refused += 1;
  }
}

/** Each client sends the next after its last response. */
export const ordersClosedLoop = (
  d: Target,
  count: number,
  clients: number,
  untilAt?: number,
): Promise<SentLog> => orders(d, (one) => closedLoop(count, clients, () => one(now()), untilAt));

export const ordersOpenLoop = (d: Target, perSecond: number, seconds: number): Promise<SentLog> =>
  orders(d, (one) => openLoop(perSecond, Math.ceil(perSecond * seconds), (_, fromAt) => one(fromAt)));

async function orders(
  { url, account, shipperTrackingId }: Target,
  pace: (one: (sentAt: number) => Promise<void>) => Promise<void>,
): Promise<SentLog> {
  const path = `/v1/shipments?key=${account.accountKey}`;
  const order = { ...sampleOrder(), ...(shipperTrackingId && { shipperTrackingId }) };
  const request = encodeRequest(url, 'POST', path, account.token, order);
  const client = createClient(url);
  const log: SentLog = { times: new Map(), refused: 0 };
  try {
    await pace(async (sentAt) => {
      const { status, body } = await send(client, request, log);
      const trackingId = /"trackingId":"(\w+)"/.exec(body)?.[1];
      if (status !== 201 || !trackingId) throw new Error(`order returned ${status}: ${body.slice(0, 300)}`);
      log.times.set(trackingId, { sentAt, respondedAt: now() });
    });
  } finally {
    client.close();
  }
  return log;
}

/** Many per request, a few concurrent requests. */
export async function eventsInBulk(
  d: Deployment,
  trackingIds: string[],
  state: string,
  eventsPerRequest: number,
  clients: number,
): Promise<SentLog> {
  const requests: { ids: string[]; request: Buffer }[] = [];
  for (let at = 0; at < trackingIds.length; at += eventsPerRequest) {
    const ids = trackingIds.slice(at, at + eventsPerRequest);
    const events = ids.map((trackingId) => ({ trackingId, state }));
    const request = encodeRequest(d.url, 'POST', '/operator/v1/events', operatorToken, { events });
    requests.push({ ids, request });
  }
  const client = createClient(d.url);
  const log: SentLog = { times: new Map(), refused: 0 };
  try {
    await closedLoop(requests.length, clients, async (n) => {
      const { ids, request } = requests[n]!;
      const sentAt = now();
      const { status, body } = await send(client, request, log);
      const respondedAt = now();
      const recorded = body.split('"eventId"').length - 1;
      if (status !== 202 || recorded !== ids.length)
        throw new Error(`${ids.length - recorded} events refused, ${status}: ${body.slice(0, 300)}`);
      for (const trackingId of ids) log.times.set(trackingId, { sentAt, respondedAt });
    });
  } finally {
    client.close();
  }
  return log;
}

/** One per request, at a steady rate. */
export async function eventsOpenLoop(
  d: Deployment,
  trackingIds: string[],
  state: string,
  perSecond: number,
): Promise<SentLog> {
  const client = createClient(d.url);
  const log: SentLog = { times: new Map(), refused: 0 };
  try {
    await openLoop(perSecond, trackingIds.length, async (n, sentAt) => {
      const trackingId = trackingIds[n]!;
      const path = `/operator/v1/shipments/${trackingId}/events`;
      const request = encodeRequest(d.url, 'POST', path, operatorToken, { state });
      const { status, body } = await send(client, request, log);
      if (status !== 202) throw new Error(`event returned ${status}: ${body.slice(0, 300)}`);
      log.times.set(trackingId, { sentAt, respondedAt: now() });
    });
  } finally {
    client.close();
  }
  return log;
}
