import type { Sign } from '../../../../src/engine/schedule/congestion.js';
import type { InFlight } from '../../../../src/engine/schedule/lanes.js';
import { Scheduler } from '../../../../src/engine/schedule/scheduler.js';
import type { DueClaim } from '../../../../src/engine/outbox/types.js';

const settlesMs = 8;
export const timeoutMs = 15_000;

/** The response to an attempt: after how long, and what it says. */
export interface Response {
  tookMs: number;
  sign: Sign;
  retryAfterMs?: number;
}

/** `inFlight`: with this one; `served`: without those that hang. `inSecond`: how many began in the current second, with this one. */
export type Receiver = (at: {
  nowMs: number;
  inFlight: number;
  served: number;
  inSecond: number;
}) => Response;

export interface Attempt extends Response {
  webhookId: string;
  startedMs: number;
}

/** Pseudo-random numbers from 0 to 1, the same in each run. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/**
 * The real scheduler and webhooks with a long backlog each, whose receivers respond as given. A page takes 3 ms, and so
 * does each timer.
 */
export function createWorld(receivers: Record<string, Receiver>, concurrency = 100) {
  const scheduler = new Scheduler({ concurrency, slowMs: 1_000 });
  const attempts: Attempt[] = [];
  const load = Object.fromEntries(
    Object.keys(receivers).map((webhookId) => [
      webhookId,
      { inFlight: 0, served: 0, second: 0, inSecond: 0 },
    ]),
  );
  let underWay: { entry: InFlight; attempt: Attempt; endsMs: number; isAnswered: boolean }[] = [];
  let nowMs = 0;
  let called: Pick<DueClaim, 'stoppedBy' | 'calledAt'> = {};

  const notify = () =>
    scheduler.notify(
      Object.keys(receivers).map((webhookId) => ({ webhookId, dueFromMs: null })),
      false,
      nowMs,
    );
  const claim = (webhookId: string) =>
    ({ shipperId: webhookId, webhookId, dueAt: new Date(0), sendableForMs: nowMs, ...called }) as DueClaim;
  const start = () => {
    scheduler.pacing.grantStarts(nowMs);
    for (const entry of scheduler.starts(nowMs)) {
      scheduler.sending(entry, nowMs);
      const { webhookId } = entry.claim;
      const at = load[webhookId]!;
      const second = Math.floor(nowMs / 1_000);
      if (at.second !== second) Object.assign(at, { second, inSecond: 0 });
      at.inFlight += 1;
      at.served += 1;
      at.inSecond += 1;
      const response = receivers[webhookId]!({ nowMs, ...at });
      const attempt = { webhookId, startedMs: nowMs, ...response };
      if (response.tookMs >= timeoutMs) at.served -= 1;
      attempts.push(attempt);
      underWay.push({ entry, attempt, endsMs: nowMs + response.tookMs, isAnswered: false });
    }
    for (let page = scheduler.nextPage(nowMs); page; page = scheduler.nextPage(nowMs))
      scheduler.claimed(
        page.wanted.flatMap(({ webhookId, room }) => Array.from({ length: room }, () => claim(webhookId))),
        nowMs,
        page,
      );
  };
  const step = () => {
    nowMs += 1;
    let isOver = false;
    for (const one of underWay) {
      if (one.endsMs > nowMs) continue;
      const { entry, attempt } = one;
      if (one.isAnswered) {
        scheduler.ended(entry, attempt.tookMs, nowMs, attempt.sign, attempt.retryAfterMs);
        isOver = true;
        continue;
      }
      load[attempt.webhookId]!.inFlight -= 1;
      if (attempt.tookMs < timeoutMs) load[attempt.webhookId]!.served -= 1;
      scheduler.answered(entry, nowMs);
      Object.assign(one, { isAnswered: true, endsMs: nowMs + settlesMs });
    }
    if (isOver) underWay = underWay.filter(({ endsMs, isAnswered }) => !(isAnswered && endsMs <= nowMs));
    if (nowMs % 100 === 0) for (const entry of scheduler.slow(nowMs)) scheduler.ended(entry, null, nowMs);
    if (nowMs % 1_000 === 0) notify();
    if (isOver || nowMs % 3 === 0) start();
  };
  notify();
  return {
    scheduler,
    attempts,
    run: (forMs: number) => {
      for (const untilMs = nowMs + forMs; nowMs < untilMs;) step();
    },
    /** The webhooks were paused or their circuits open, and are called again. */
    resume: () => (called = { stoppedBy: 'paused', calledAt: new Date(nowMs) }),
    /** Successes a second, and the share of failures, of attempts that started since `fromMs`. */
    measure: (webhookId: string, fromMs: number) => {
      const those = attempts.filter((one) => one.webhookId === webhookId && one.startedMs >= fromMs);
      const succeeded = those.filter(({ sign }) => sign === 'SUCCEEDED').length;
      return {
        perSecond: (succeeded * 1_000) / (nowMs - fromMs),
        failed: 1 - succeeded / those.length,
      };
    },
  };
}
