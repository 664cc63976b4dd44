import { Webhook } from 'standardwebhooks';
import { sampleOrder, type Account } from './client.js';
import type { Received } from './receiver.js';

/** One that PostgreSQL was too busy for is placed again: nothing of it was accepted. */
async function placeOne(account: Account): Promise<string> {
  for (let triesLeft = 20; ; triesLeft -= 1) {
    const { httpStatus, data, body } = await account.call('/v1/shipments', { body: sampleOrder() });
    if (httpStatus === 201) return data.trackingId as string;
    if (httpStatus !== 503 || triesLeft === 0) throw new Error(JSON.stringify(body));
  }
}

/** A few at a time; returns their tracking ids. */
export async function placeOrders(account: Account, count: number): Promise<string[]> {
  const trackingIds: string[] = [];
  while (trackingIds.length < count) {
    const few = Array.from({ length: Math.min(10, count - trackingIds.length) }, () => placeOne(account));
    trackingIds.push(...(await Promise.all(few)));
  }
  return trackingIds;
}

export interface Load {
  /** Tracking ids of the orders that got 201. */
  accepted: string[];
  /** One entry per order: its status (0: the connection broke) and duration. */
  responses: { httpStatus: number; durationMs: number; retryAfter: string | null }[];
  /** When the oldest order without a response was sent, by `performance.now()`; Infinity if all have theirs. */
  openSince(): number;
  stop(): Promise<void>;
}

/** Places orders without waiting for the previous one, each for the next account. */
export function startLoad(nextAccount: () => Account, everyMs: number): Load {
  const load: Load = { accepted: [], responses: [], openSince, stop };
  const open = new Map<Promise<void>, number>();
  const timer = setInterval(() => {
    const one = order().finally(() => open.delete(one));
    open.set(one, performance.now());
  }, everyMs);
  return load;

  async function order(): Promise<void> {
    const startedAt = performance.now();
    const response = await nextAccount()
      .call('/v1/shipments', { body: sampleOrder() })
      .catch(() => null);
    load.responses.push({
      httpStatus: response?.httpStatus ?? 0,
      durationMs: performance.now() - startedAt,
      retryAfter: response?.headers.get('retry-after') ?? null,
    });
    if (response?.httpStatus === 201) load.accepted.push(response.data.trackingId as string);
  }

  function openSince(): number {
    const [oldest = Infinity] = open.values(); // in the order in which they were sent
    return oldest;
  }

  async function stop(): Promise<void> {
    clearInterval(timer);
    await Promise.all(open.keys());
  }
}

export const percentile = (values: number[], p: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * p) - 1)] ?? 0;

export const trackingIdOf = (request: Received): string => request.notification.tracking_id as string;

export function heardOf(received: Received[], trackingIds: string[]): number {
  const heard = new Set(received.map(trackingIdOf));
  return trackingIds.filter((id) => heard.has(id)).length;
}

export const repeated = (received: Received[]): number =>
  received.length - new Set(received.map(({ headers }) => headers['webhook-id'])).size;

/** Throws if a signature does not verify. */
export function verifyAll(received: Received[], secret: string): void {
  const webhook = new Webhook(secret);
  for (const { body, headers } of received) webhook.verify(body, headers as Record<string, string>);
}
