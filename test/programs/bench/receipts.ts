import { setTimeout as sleep } from 'node:timers/promises';
import { now } from './clock.js';
import type { Deployment } from './deployment.js';
import type { Receipt } from './processes.js';
import type { SentLog } from './requests.js';

export interface Receipts {
  /** The times from the sending to the first arrival, one per notification. */
  fromSentMs: number[];
  fromResponseMs: number[];
  firstSentAt: number;
  lastRespondedAt: number;
  lastArrivedAt: number;
  /** Differs from the arrival if the receiver failed at first. */
  lastDeliveredAt: number;
}

type Observed = Pick<Deployment, 'receiver' | 'check'>;

/** Longer than the first step of the retry schedule. */
const patienceMs = 30_000;
const stateTimeoutMs = 120_000;

/** Throws if some are missing and none has come for half a minute. */
export async function awaitReceipts(d: Observed, sent: SentLog, paths: string[]): Promise<Receipts> {
  const keys = [...sent.times.keys()].flatMap((trackingId) => paths.map((path) => `${path} ${trackingId}`));
  let wanted = keys.length;
  for (;;) {
    await untilDelivered(d, wanted);
    const receipts = await d.receiver.receipts();
    const missing = keys.filter((key) => !receipts.has(key)).length;
    if (missing === 0) return timesOf(sent, paths, receipts);
    wanted = receipts.size + missing; // others came, from an earlier load
  }
}

async function untilDelivered(d: Observed, wanted: number): Promise<void> {
  let seen = -1;
  for (let progressAt = now(); ; await sleep(20)) {
    d.check();
    const { delivered } = await d.receiver.progress();
    if (delivered >= wanted) return;
    if (delivered > seen) progressAt = now();
    seen = delivered;
    if (now() - progressAt > patienceMs)
      throw new Error(
        `${wanted - delivered} of ${wanted} notifications are missing: none for ${patienceMs} ms`,
      );
  }
}

function timesOf({ times: sent }: SentLog, paths: string[], receipts: Map<string, Receipt>): Receipts {
  const found: Receipts = {
    fromSentMs: [],
    fromResponseMs: [],
    firstSentAt: Infinity,
    lastRespondedAt: 0,
    lastArrivedAt: 0,
    lastDeliveredAt: 0,
  };
  for (const [trackingId, { sentAt, respondedAt }] of sent) {
    found.firstSentAt = Math.min(found.firstSentAt, sentAt);
    found.lastRespondedAt = Math.max(found.lastRespondedAt, respondedAt);
    for (const path of paths) {
      const { arrivedAt, deliveredAt } = receipts.get(`${path} ${trackingId}`)!;
      found.fromSentMs.push(arrivedAt - sentAt);
      found.fromResponseMs.push(arrivedAt - respondedAt);
      found.lastArrivedAt = Math.max(found.lastArrivedAt, arrivedAt);
      found.lastDeliveredAt = Math.max(found.lastDeliveredAt, deliveredAt);
    }
  }
  return found;
}

/** The next load begins at rest. */
export async function untilSettled(d: Deployment): Promise<void> {
  for (const status of ['PENDING', 'SENDING', 'HELD']) {
    for (const until = now() + stateTimeoutMs; ; await sleep(100)) {
      d.check();
      const response = await d.account.call(`/v1/deliveries?status=${status}&limit=1`);
      if (response.httpStatus === 400) break; // this build does not have the status
      if (response.httpStatus === 200 && (response.data.deliveries as unknown[]).length === 0) break;
      if (now() > until) throw new Error(`deliveries are still ${status} after ${stateTimeoutMs} ms`);
    }
  }
  await d.receiver.reset();
}
