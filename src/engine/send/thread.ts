/** The program of the threads that `threads.ts` starts. */
import { parentPort, workerData } from 'node:worker_threads';
import { createExchange } from './exchange.js';
import { followDatabaseClock, monotonicMs } from '../../platform/clock.js';
import { packOutcome, type AttemptMessage, type FromThread, type ToThread } from './messages.js';
import type { OpenTarget } from './sealing.js';
import type { ThreadSettings } from './threads.js';

const { settings, sharedBy } = workerData as ThreadSettings;
const exchange = createExchange(settings, sharedBy, {
  error: (fields: object, text: string) => tell(({ problems }) => problems.push({ fields, text })),
});
const targets = new Map<string, OpenTarget>();
/** Attempts that wait for a permission, by id. */
const asking = new Map<number, (startUntilMs: number | null) => void>();
const empty = (): FromThread => ({ outcomes: [], questions: [], waitedMs: 0, problems: [] });
let report = empty();
let isReporting = false;

parentPort!.on('message', ({ postedAtMs, clockAheadMs, attempts, permissions, forgotten }: ToThread) => {
  followDatabaseClock(clockAheadMs);
  for (const message of attempts) make(message);
  for (const [id, startUntilMs] of permissions) {
    asking.get(id)?.(startUntilMs);
    asking.delete(id);
  }
  for (const webhookId of forgotten) targets.delete(webhookId);
  report.waitedMs = Math.max(report.waitedMs, monotonicMs() - postedAtMs);
  if (attempts.length === 0 && permissions.length === 0) tell(() => undefined);
});

function make([id, webhookId, given, ...request]: AttemptMessage): void {
  const [
    shipperId,
    eventId,
    text,
    sequence,
    number,
    erased,
    traceparent,
    isTraced,
    keepsDetail,
    startUntilMs,
    sinceMs,
  ] = request;
  if (given) targets.set(webhookId, given);
  const body = typeof text === 'string' ? text : new Uint8Array(text);
  const outgoing = {
    shipperId,
    eventId,
    body,
    sequence,
    number,
    erased,
    traceparent,
    isTraced,
    keepsDetail,
    startUntilMs,
  };
  const ask = () =>
    new Promise<number | null>((resolve) => {
      asking.set(id, resolve);
      tell(({ questions }) => questions.push(id));
    });
  const queuedMs = monotonicMs() - sinceMs;
  void exchange.attempt(targets.get(webhookId)!, outgoing, ask).then((outcome) => {
    asking.delete(id); // it may have ended while it asked
    outcome.queuedMs = queuedMs;
    tell(({ outcomes }) => outcomes.push(packOutcome(id, outcome)));
  });
}

/** One tick of the event loop makes one message. */
function tell(add: (to: FromThread) => unknown): void {
  add(report);
  if (isReporting) return;
  isReporting = true;
  setImmediate(() => {
    isReporting = false;
    parentPort!.postMessage(report);
    report = empty();
  });
}
