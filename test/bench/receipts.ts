import { setTimeout as sleep } from 'node:timers/promises';
import { now } from './clock.js';
import type { Deployment } from './deployment.js';
import type { Receipt } from './processes.js';
import type { SentLog } from './requests.js';

/** Times of the receipts owed for a load. */
export interface Receipts {
  /** From the sending to the first arrival, one for each notification. */
  fromSentMs: number[];
  /** From the API's answer. */
  fromAnswerMs: number[];
  firstSentAt: number;
  lastAnsweredAt: number;
  lastArrivedAt: number;
  /** Unlike the arrival where the receiver failed at first. */
  lastDeliveredAt: number;
}

/** Longer than the first step of the retry schedule. */
const patienceMs = 30_000;
const stateTimeoutMs = 120_000;

/**
 * Waits until every notification of the load was taken by its receiver, on each of `paths`. Throws where some are
 * missing and none has come for half a minute.
 */
export async function awaitReceipts(d: Deployment, sent: SentLog, paths: string[]): Promise<Receipts> {
  const keys = [...sent.times.keys()].flatMap((trackingId) => paths.map((path) => `${path} ${trackingId}`));
  let wanted = keys.length;
  for (;;) {
    await untilDelivered(d, wanted);
    const receipts = await d.receiver.receipts();
    const missing = keys.filter((key) => !receipts.has(key)).length;
    if (missing === 0) return timesOf(sent, paths, receipts);
    wanted = receipts.size + missing; // others came, of an earlier load
  }
}

async function untilDelivered(d: Deployment, wanted: number): Promise<void> {
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
    fromAnswerMs: [],
    firstSentAt: Infinity,
    lastAnsweredAt: 0,
    lastArrivedAt: 0,
    lastDeliveredAt: 0,
  };
  for (const [trackingId, { sentAt, answeredAt }] of sent) {
    found.firstSentAt = Math.min(found.firstSentAt, sentAt);
    found.lastAnsweredAt = Math.max(found.lastAnsweredAt, answeredAt);
    for (const path of paths) {
      const { arrivedAt, deliveredAt } = receipts.get(`${path} ${trackingId}`)!;
      found.fromSentMs.push(arrivedAt - sentAt);
      found.fromAnswerMs.push(arrivedAt - answeredAt);
      found.lastArrivedAt = Math.max(found.lastArrivedAt, arrivedAt);
      found.lastDeliveredAt = Math.max(found.lastDeliveredAt, deliveredAt);
    }
  }
  return found;
}

/** Waits until the log of the account knows of nothing that is still owed, so that the next load begins at rest. */
export async function untilSettled(d: Deployment): Promise<void> {
  for (const status of ['PENDING', 'SENDING', 'HELD']) {
    for (const until = now() + stateTimeoutMs; ; await sleep(100)) {
      d.check();
      const answer = await d.account.call(`/v1/deliveries?status=${status}&limit=1`);
      if (answer.httpStatus === 400) break; // a status that this build does not have
      if (answer.httpStatus === 200 && (answer.data.deliveries as unknown[]).length === 0) break;
      if (now() > until) throw new Error(`deliveries are still ${status} after ${stateTimeoutMs} ms`);
    }
  }
  await d.receiver.reset();
}
