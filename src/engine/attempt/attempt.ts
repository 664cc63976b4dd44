import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createBatcher } from '../../platform/batch.js';
import { databaseNowMs } from '../../platform/clock.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Durations } from '../../platform/durations.js';
import { describeError, notFound, tooManyRequests, unavailable } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import {
  childTraceparent,
  traceIdOf,
  traceparentOf,
  type Tracing,
} from '../../platform/telemetry/tracing.js';
import { disableByResponse, reportSuccess } from '../circuit/circuit.js';
import type { TransitionDependencies } from '../circuit/notices.js';
import { insertTest } from '../outbox/insert.js';
import { settle } from '../outbox/claim.js';
import type { AttemptRecord, Claim, LargeBody, Settlement } from '../outbox/types.js';
import { renderNotification } from '../record/store.js';
import { errorCodes } from '../send/errors.js';
import { failedOutcome, withWaited, type AttemptOutcome, type WaitedMs } from '../send/messages.js';
import type { OpenTarget, Target, Targets } from '../send/sealing.js';
import type { Sending } from '../send/threads.js';
import { attemptRecordOf, disabledBy } from '../settle/retry-policy.js';
import { retryWhileDatabaseDown, secondsSince } from '../settle/settler.js';
import type { Starts } from './leases.js';
import { drawStarts } from './starts-drawn.js';

export interface AttemptOptions {
  targets: Targets;
  bodies: Bodies;
  starts: Starts;
  sending: Pick<Sending, 'send'>;
  logger: Logger;
  metrics: Metrics;
  countAttempt: ReturnType<typeof createAttemptCounter>;
  tracing: Tracing;
  /** `failed`: a success is logged at debug. */
  logAttempts: 'all' | 'failed';
  /** `failed`: the log keeps no detail of a success, except of an attempt by hand. */
  logDetail: 'all' | 'failed';
}

/** The steps in which an attempt of a lane differs from a test. */
export interface AttemptSteps {
  /** The receiver has been quick lately. */
  isProved?: boolean;
  /** The target is known: the exchange begins, unless this returns false. */
  sending?(target: Target): boolean;
  /**
   * The exchange is over; `outcome` is null if it may not start any more. Returns what the delivery waited for; null if
   * that is not kept.
   */
  answered?(outcome: AttemptOutcome | null): WaitedMs | null;
  /** `accepted`: the claim was still ours. */
  settle(target: Target, outcome: AttemptOutcome): Promise<{ ended: Ended; accepted: boolean }>;
}

type Ended = AttemptRecord & Partial<Pick<Settlement, 'status' | 'delayMs'>>;

/**
 * Makes one attempt, from its claim to its line in the log, whatever its trigger. `issuedAt`: performance.now() when the
 * claiming statement was issued. Null if none was made: the target is not readable, or the attempt may not start any
 * more. The claim is then to be given back.
 */
export async function makeAttempt(
  options: AttemptOptions,
  claim: Claim,
  issuedAt: number,
  { isProved = false, sending, answered, settle }: AttemptSteps,
): Promise<AttemptOutcome | null> {
  const target = await readRequest(options, claim).catch((error: unknown) =>
    options.logger.warn(
      { deliveryId: claim.deliveryId, error: describeError(error) },
      'target or body not read; nothing is sent',
    ),
  );
  if (!target) return null;
  if (sending?.(target) === false) return null;
  const outcome = await exchange(options, claim, target, issuedAt, isProved);
  const waitedMs = answered?.(outcome) ?? null;
  if (!outcome) return null;
  if (waitedMs) outcome.detail = withWaited(outcome.detail, waitedMs);
  const { ended, accepted } = await settle(target, outcome);
  note(options, claim, ended, accepted, waitedMs);
  return outcome;
}

/** Reads what the claim does not have of its request. */
async function readRequest({ targets, bodies }: AttemptOptions, claim: Claim): Promise<Target> {
  const target = await targets.of(claim);
  if (claim.large) claim.body = await bodies.of(claim.large);
  return target;
}

/** Null if the attempt may not start any more. An attempt whose target no key opens has failed. */
async function exchange(
  options: AttemptOptions,
  claim: Claim,
  target: Target,
  issuedAt: number,
  isProved: boolean,
): Promise<AttemptOutcome | null> {
  const opened = openTarget(options, claim, target);
  if (!opened) return failedOutcome('PROTOCOL', new Date(databaseNowMs()));
  const { tracing, logDetail } = options;
  const span = tracing.isExporting ? tracing.start('attempt', { parent: claim.trace, kind: 'client' }) : null;
  const outcome = await options.sending.send({
    claim,
    target: opened,
    traceparent: span ? traceparentOf(span) : childTraceparent(claim.trace),
    isTraced: span?.isSampled ?? false,
    keepsDetail: logDetail === 'all' || isByHand(claim),
    startUntilMs: options.starts.untilMs(issuedAt),
    mayStart: () => options.starts.mayStart(claim),
    isProved,
  });
  if (outcome.withheld) return null;
  if (span?.isSampled) {
    for (const [phase, atMs] of outcome.phaseEnds) span.event(phase, atMs);
    span.end(endOf(claim, outcome));
    keepExemplars(options.metrics, claim, outcome);
  }
  return outcome;
}

/** The caller of such an attempt wants to look at it. */
const isByHand = ({ trigger }: Claim) => trigger === 'MANUAL' || trigger === 'TEST';

function openTarget({ logger }: AttemptOptions, { deliveryId }: Claim, target: Target): OpenTarget | null {
  try {
    return target.open();
  } catch (error) {
    logger.error(
      { deliveryId, error: describeError(error) },
      'secrets of the webhook not opened; the attempt counts as failed',
    );
    return null;
  }
}

const endOf = (claim: Claim, { ok, statusCode, errorCode }: AttemptOutcome) => ({
  failed: !ok,
  attributes: {
    'parcelhook.shipper_id': claim.shipperId,
    'parcelhook.webhook_id': claim.webhookId,
    'parcelhook.delivery_id': claim.deliveryId,
    'parcelhook.attempt': claim.number,
    'parcelhook.trigger': claim.trigger,
    ...(statusCode !== null && { 'http.response.status_code': statusCode }),
    ...(errorCode !== null && { 'error.type': errorCode }),
  },
});

function keepExemplars(
  { exemplars, attemptDuration, eventToFirstAttempt }: Metrics,
  claim: Claim,
  { errorCode, durationMs, startedAt }: AttemptOutcome,
): void {
  const traceId = traceIdOf(claim.trace);
  const outcome = errorCode === null ? 'success' : 'failure';
  exemplars?.keep(attemptDuration, durationMs / 1_000, traceId, { outcome });
  if (claim.trigger === 'SCHEDULED' && claim.number === 1)
    exemplars?.keep(eventToFirstAttempt, secondsSince(claim, startedAt.getTime()), traceId);
}

/** Counts and logs an attempt that has ended, whatever its trigger. */
function note(
  { metrics, countAttempt, logger, logAttempts }: AttemptOptions,
  claim: Claim,
  ended: Ended,
  accepted: boolean,
  waitedMs: WaitedMs | null,
): void {
  const { statusCode, errorCode, durationMs } = ended;
  countAttempt(ended);
  if (claim.trigger === 'SCHEDULED' && claim.number === 1)
    metrics.eventToFirstAttempt.observe(secondsSince(claim, ended.startedAt.getTime()));
  const level = !accepted ? 'warn' : logAttempts === 'failed' && errorCode === null ? 'debug' : 'info';
  if (!logger.isLevelEnabled(level)) return;
  const line = {
    deliveryId: claim.deliveryId,
    webhookId: claim.webhookId,
    shipperId: claim.shipperId,
    trackingId: trackingIdOf(claim.body),
    eventId: claim.eventId,
    traceId: traceIdOf(claim.trace),
    attempt: claim.number,
    trigger: claim.trigger,
    status: ended.status,
    statusCode,
    errorCode,
    durationMs,
    delayMs: ended.delayMs,
    waitedMs: waitedMs ?? undefined,
  };
  logger[level](line, accepted ? 'attempt' : 'attempt ended too late: its claim was lost');
}

/**
 * The shipment's tracking id, as a notification names it; undefined in a notice about a webhook. It is searched for from
 * the end: what precedes it may be long, and may have any names. Inside a string its quotes would be escaped.
 */
function trackingIdOf(body: string): string | undefined {
  const name = '"tracking_id":"';
  const start = body.lastIndexOf(name);
  if (start === -1) return undefined;
  const from = start + name.length;
  return body.slice(from, body.indexOf('"', from));
}

/**
 * Counts attempts that have ended, each outcome from zero: to Prometheus, a counter that first appears at 1 has not
 * increased.
 */
export function createAttemptCounter({ attempts, attemptDuration }: Metrics) {
  const counters = new Map<string, { inc(by?: number): void }>();
  const counterOf = (outcome: string, statusClass: string) => {
    const key = outcome === 'HTTP_STATUS' ? statusClass : outcome; // any other outcome has one class
    const known = counters.get(key);
    if (known) return known;
    const counter = attempts.labels(outcome, statusClass);
    counters.set(key, counter);
    return counter;
  };
  counterOf('SUCCEEDED', '2xx').inc(0);
  for (const outcome of errorCodes) if (outcome !== 'HTTP_STATUS') counterOf(outcome, 'none').inc(0);
  for (const statusClass of ['3xx', '4xx', '5xx']) counterOf('HTTP_STATUS', statusClass).inc(0);
  for (const outcome of ['success', 'failure']) attemptDuration.zero({ outcome });
  const [success, failure] = [attemptDuration.labels('success'), attemptDuration.labels('failure')];

  return ({ statusCode, errorCode, durationMs }: AttemptRecord): void => {
    const statusClass = statusCode === null ? 'none' : `${Math.floor(statusCode / 100)}xx`;
    counterOf(errorCode ?? 'SUCCEEDED', statusClass).inc();
    (errorCode === null ? success : failure).observe(durationMs / 1_000);
  };
}

/** The bodies that claims do not have. */
export interface Bodies {
  /** Throws if the event is gone. */
  of(large: LargeBody): Promise<string>;
}

const maxChars = 8 * 1024 * 1024;
const perStatement = 8;

/** Attempts of one event that start about the same time share one text. */
export function createBodies(db: Database): Bodies {
  const known = new LRUCache<string, string>({ maxSize: maxChars, sizeCalculation: ({ length }) => length });
  const loads = createBatcher<string, string | undefined>({
    maxItems: perStatement,
    concurrency: 2,
    maxWaiting: 10_000,
    flush: async (eventIds) => {
      const unread = [...new Set(eventIds)].filter((eventId) => !known.has(eventId));
      const read = new Map(unread.length > 0 ? await loadBodies(db, unread) : []);
      for (const [eventId, body] of read) known.set(eventId, body);
      return eventIds.map((eventId) => read.get(eventId) ?? known.get(eventId));
    },
  });
  return {
    of: async ({ eventId }) => {
      const body = known.get(eventId) ?? (await loads.add(eventId));
      if (body === undefined) throw new Error('The event is gone');
      return body;
    },
  };
}

async function loadBodies(db: Database, eventIds: string[]): Promise<[eventId: string, body: string][]> {
  const rows = await db.query<{ event_id: string; body: string }>(
    'load-bodies',
    `select e.event_id, e.body from unnest($1::uuid[]) as t (event_id)
      cross join lateral (select event_id, body from events where event_id = t.event_id limit 1) e`,
    [eventIds],
  );
  return rows.map(({ event_id, body }) => [event_id, body]);
}

export interface Sample {
  state: string;
  shipment: { trackingId: string; shipperTrackingId: string };
}

export interface TestOptions extends AttemptOptions, Omit<TransitionDependencies, 'durations'> {
  durations: Durations;
  timeoutMs: number;
}

/** Leaves time to record the outcome. No test lasts longer, so the lease needs no renewal. */
export const testLeaseMs = (timeoutMs: number, { leaseMs }: Pick<Durations, 'leaseMs'>): number =>
  timeoutMs + leaseMs;

/**
 * Sends from this process, without its lanes: at once, or when the webhook's `maxPerSecond` allows it. A failure does
 * not count for the circuit. Throws NOT_FOUND without the webhook, and TOO_MANY_REQUESTS if others wait for its starts.
 */
export async function sendTest(
  options: TestOptions,
  shipperId: string,
  webhookId: string,
  { state, shipment }: Sample,
): Promise<Claim> {
  await waitForStart(options.db, shipperId, webhookId);
  const issuedAt = performance.now();
  const nowMs = databaseNowMs();
  const event = { eventId: newId(nowMs), state, body: renderNotification(shipment, { state }, nowMs) };
  const leaseMs = testLeaseMs(options.timeoutMs, options.durations);
  const claim = await insertTest(options.db, shipperId, webhookId, event, leaseMs);
  if (!claim) throw notFound('This webhook');
  const outcome = await makeAttempt(options, claim, issuedAt, { settle: settling(options, claim) });
  if (!outcome) throw unavailable(); // too late to start; the sweeper settles it
  return claim;
}

/** Others may have drawn the starts until then. */
const startWithinMs = 5_000;

async function waitForStart(db: Database, shipperId: string, webhookId: string): Promise<void> {
  const starts = await drawStarts(db, [{ webhookId, count: 1 }], startWithinMs, shipperId);
  const drawn = starts.get(webhookId);
  if (!drawn) return;
  if (drawn.count === 0) throw tooManyRequests(paceIsFull, startWithinMs / 1_000);
  await sleep(Math.max(0, drawn.firstMs - performance.now()));
}

const paceIsFull =
  'The attempts that maxPerSecond of this webhook allows within the next seconds are taken. Try again, or raise maxPerSecond.';

const settling = (options: TestOptions, claim: Claim): AttemptSteps['settle'] => {
  const { db, logger, durations } = options;
  return async (target, outcome) => {
    const disables = disabledBy(outcome);
    if (disables !== null)
      await disableByResponse(options, [target], disables).catch((error: unknown) =>
        logger.warn(
          { webhookId: claim.webhookId, error: describeError(error) },
          'webhook not disabled; the next attempt retries',
        ),
      );
    const status = outcome.ok ? 'SUCCEEDED' : 'FAILED';
    const ended = { ...attemptRecordOf(claim, outcome), status, reason: null, delayMs: null } as const;
    const giveUpAt = performance.now() + durations.leaseMs - durations.maxStartMs; // the lease is certainly valid
    const settled = await retryWhileDatabaseDown(
      () => settle(db, [ended]),
      () => performance.now() < giveUpAt,
      durations.patienceMs,
    );
    const accepted = settled.size > 0;
    if (accepted && outcome.ok && claim.troubled) await reportSuccess(options, target);
    return { ended, accepted };
  };
};
