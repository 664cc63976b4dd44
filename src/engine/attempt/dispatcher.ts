import { setTimeout as sleep } from 'node:timers/promises';
import { databaseNowMs } from '../../platform/clock.js';
import { describeError } from '../../platform/errors.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import { traceIdOf } from '../../platform/telemetry/tracing.js';
import type { Database } from '../../platform/database/postgres.js';
import type { HeldBack, OrdersUnderWay, Page } from '../schedule/places.js';
import { drawStarts } from './starts-drawn.js';
import { pullDue } from '../outbox/claim.js';
import { claimRedeliveries, findWaitingRedeliveries } from '../outbox/redelivery.js';
import { distinctDue, type Due, type HandOver, type DueClaim } from '../outbox/types.js';
import type { AttemptOutcome, WaitedMs } from '../send/messages.js';
import { isLost, retryAfterMs, signOf } from '../settle/retry-policy.js';
import { createRetries, createSettler, type SettlerOptions } from '../settle/settler.js';
import type { Durations } from '../../platform/durations.js';
import { makeAttempt, type AttemptOptions } from './attempt.js';
import { markPaced } from './agreements.js';
import { createLeases } from './leases.js';
import type { Sign } from '../schedule/congestion.js';
import type { InFlight } from '../schedule/lanes.js';
import type { Paces } from '../schedule/pace.js';
import type { Paced } from '../schedule/pacing.js';
import { Scheduler } from '../schedule/scheduler.js';

export interface DispatcherOptions
  extends AttemptOptions, Omit<SettlerOptions, 'notify' | 'retryAt' | 'onNotCallable' | 'lingerMs'> {
  /** Makes claims and leases; its commits may be lost in a crash. */
  leaseDb: Database;
  metrics: Metrics;
  durations: Durations;
  concurrency: number;
  /** Null if no host's pace is bounded. */
  paces: Paces;
  /** Finds out whether the receivers of these paces agree to any. */
  agree(paced: Paced[]): void;
  onLeft(due: Due[]): void;
}

export interface Dispatcher extends HandOver {
  /** `asOfMs`: performance.now() before the claiming statement was sent. */
  accept(claims: DueClaim[], asOfMs: number): void;
  /** Claims redeliveries that were asked for, as many as their lanes have room for. Never rejects. */
  redeliver(): Promise<void>;
  /** See the scheduler. There is room while no attempt ends, because then none waits for this process. */
  hasRoomForOrder(shipperId: string, orders: OrdersUnderWay): boolean;
  /** See `Dispatch`. */
  limitShippers(limits: ReadonlyMap<string, number>): void;
  /** Claims that wait for this process, by webhook. */
  heldBack(): Record<string, HeldBack>;
  /** performance.now() when an attempt last ended; -Infinity before the first one. */
  lastEndAtMs(): number;
  /** Resolves when each attempt under way is settled and each reservation released. */
  drain(): Promise<void>;
}

const pagesAtOnce = 2;
const pageRetryPauseMs = 500;
const drainPollMs = 10;
const stalledAfterMs = 300;
const heavyForMs = 60_000;
/** The pause between two statements that draw starts is this many times what the last one took, within bounds. */
const drawPauseFactor = 4;
const minDrawPauseMs = 20;
const maxDrawPauseMs = 200;
/** Starts of webhooks are looked for at most so often, however many have a pace. */
const startsEveryMs = 2;

/**
 * A claim is a lease in PostgreSQL on one attempt number. If this process dies, the sweeper takes up the delivery when
 * the lease has expired; a late outcome is refused.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, leaseDb, logger, metrics, durations, concurrency } = options;
  const scheduler = new Scheduler({ concurrency, slowMs: durations.slowMs });
  const pages = new Set<Promise<void>>();
  let draining = false;
  let pageScheduled = false;
  let lastEndAtMs = -Infinity;
  let redelivering: Promise<void> | null = null;
  let mayBeAsked = false;

  /** Requests and jobs may end after this process has drained, so it passes their webhooks on. */
  const notify = (due: Due[], one = false) => {
    if (draining) return options.onLeft(distinctDue(due));
    scheduler.notify(due, one, performance.now());
    schedulePage();
  };
  const leases = createLeases({
    ...options,
    claims: () => scheduler.claims(),
    isDraining: () => draining,
    notify,
  });
  const retries = createRetries((due) => notify(due, true));
  const inFlight = () => {
    const { quick, unknown, slow } = scheduler.inFlight;
    return quick + unknown + slow;
  };
  const settler = createSettler({
    ...options,
    notify,
    retryAt: retries.at,
    onNotCallable: (webhookIds) => giveBackAll(scheduler.returnPending(webhookIds)),
    lingerMs: () => {
      if (inFlight() >= concurrency / 3) return 0;
      return scheduler.isAwaited ? durations.linger.awaitedMs : durations.linger.idleMs;
    },
  });
  metrics.attemptSlots.set(concurrency);
  metrics.onScrape(() => metrics.attemptsInFlight.set(inFlight()));

  const startAndPull = () => {
    const nowMs = performance.now();
    if (scheduler.pacing.isTimed) grantStarts(nowMs);
    for (const entry of scheduler.starts(nowMs)) send(entry);
    if (scheduler.pacing.isWanted && nowMs >= drawsFromMs) void draw();
    schedulePage();
  };

  /** Lanes notified in the same event-loop tick share a statement. */
  const schedulePage = () => {
    watchWhileBusy();
    if (pageScheduled || draining || pages.size >= pagesAtOnce) return;
    pageScheduled = true;
    setImmediate(() => {
      pageScheduled = false;
      while (!draining && pages.size < pagesAtOnce) {
        const page = scheduler.nextPage(performance.now());
        if (!page) return;
        const pulling = pull(page).finally(() => {
          pages.delete(pulling);
          startAndPull();
        });
        pages.add(pulling);
      }
    });
  };
  const pull = async (page: Page): Promise<void> => {
    const asOfMs = performance.now();
    const wanted = page.wanted.map(({ webhookId, room, sinceMs }) => ({
      webhookId,
      room,
      since: sinceMs === -Infinity ? null : new Date(sinceMs),
    }));
    try {
      const claims = await pullDue(leaseDb, wanted, durations.leaseMs);
      if (claims.length > 0) metrics.batchSize.observe({ batch: 'claims' }, claims.length);
      scheduler.claimed(claims, asOfMs, page);
      if (draining) giveBackAll(scheduler.stop());
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'deliveries not pulled; retrying');
      await sleep(draining ? 0 : pageRetryPauseMs);
      scheduler.pageFailed(page);
    }
  };

  const accept = (claims: DueClaim[], asOfMs: number) => {
    scheduler.claimed(claims, asOfMs, null);
    if (draining) giveBackAll(scheduler.stop());
    else startAndPull();
  };

  const redeliver = (): Promise<void> => {
    mayBeAsked = true;
    redelivering ??= claimAsked();
    return redelivering;
  };
  const claimAsked = async (): Promise<void> => {
    try {
      while (mayBeAsked && !draining) {
        mayBeAsked = false;
        const asked = await findWaitingRedeliveries(db, scheduler.roomForRedeliveries());
        const asOfMs = performance.now();
        if (asked.length > 0) accept(await claimRedeliveries(db, asked, durations.leaseMs), asOfMs);
      }
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'redeliveries not claimed; left to the sweeper');
    } finally {
      redelivering = null;
    }
  };

  const send = (entry: InFlight) => {
    const { claim } = entry;
    let durationMs: number | null = null;
    let sign: Sign = null;
    let waitMs = 0;
    attempt(entry, (ms, answer) => {
      durationMs = ms;
      sign = signOf(answer);
      if (sign === 'OVERLOADED') waitMs = retryAfterMs(answer.retryAfter, new Date(databaseNowMs()));
    })
      .catch((error: unknown) =>
        logger.error(
          { deliveryId: claim.deliveryId, attempt: claim.number, error: describeError(error) },
          'attempt not recorded; the sweeper takes it up',
        ),
      )
      .finally(() => {
        lastEndAtMs = performance.now();
        scheduler.ended(entry, durationMs, lastEndAtMs, sign, waitMs);
        startAndPull();
        if (claim.trigger === 'MANUAL' && durationMs !== null) void redeliver();
      });
  };
  /** `took` is called once the attempt is made, before it is settled: that may fail. */
  const attempt = async (
    entry: InFlight,
    took: (durationMs: number, answer: AttemptOutcome) => void,
  ): Promise<void> => {
    const { claim, asOfMs } = entry;
    const outcome = await makeAttempt(options, claim, asOfMs, {
      isProved: entry.pool === 'quick',
      sending: (target) => scheduler.sending(entry, performance.now(), options.paces.of(target)),
      answered: (answer) => {
        const nowMs = performance.now();
        const sendableMs = scheduler.answered(entry, nowMs);
        if (!answer) return null;
        // A receiver that may have ended a thread counts as slow until it has proved to be quick, and one whose handshakes
        // are heavy for a while: other threads would make them again.
        if (answer.isHeavy) entry.lane.slowUntilMs = nowMs + heavyForMs;
        const isSlow = isLost(answer) || nowMs < entry.lane.slowUntilMs;
        took(isSlow ? Infinity : answer.durationMs, answer);
        noteWait(claim, sendableMs + answer.queuedMs, answer.startedAt);
        return waitedOf(entry, sendableMs, answer);
      },
      settle: (target, answer) => settler.settle(claim, target.storedAddress, answer),
    });
    if (outcome) return;
    await leases.giveBack(claim);
    notify([dueOf(claim)], true);
  };
  const noteWait = (claim: DueClaim, sendableMs: number, startedAt: Date) => {
    if (claim.trigger === 'MANUAL') return;
    if (!claim.isProbe) metrics.sendable.observe(sendableMs / 1_000);
    if (!options.tracing.isExporting) return;
    if (!claim.isProbe) metrics.exemplars?.keep(metrics.sendable, sendableMs / 1_000, traceIdOf(claim.trace));
    const wait = { parent: claim.trace, startedAtMs: claim.dueAt.getTime() };
    options.tracing.start('wait', wait).end({ atMs: startedAt.getTime() });
  };
  const giveBackAll = (entries: InFlight[]) => {
    for (const entry of entries)
      leases
        .giveBack(entry.claim)
        .catch(logFailure)
        .finally(() => {
          scheduler.ended(entry, null, performance.now());
          notify([dueOf(entry.claim)], true); // pages have passed its due time
        });
  };
  const logFailure = (error: unknown) =>
    void logger.warn({ error: describeError(error) }, 'claim not sent; the sweeper takes it up');

  let watching: NodeJS.Timeout | undefined;
  const watchWhileBusy = () => {
    if (!draining) watching ??= setInterval(watch, durations.slowMs / 10);
  };
  const watch = () => {
    if (!scheduler.isHolding() && scheduler.behind().length === 0) {
      clearInterval(watching);
      watching = undefined;
      return;
    }
    giveBackAll(scheduler.slow(performance.now()));
    options.agree(scheduler.pacing.waiting());
    markHeld();
    startAndPull();
    void draw();
  };

  const markHeld = () => {
    const held = scheduler.slowed(performance.now());
    if (held.length > 0)
      void markPaced(leaseDb, held).catch((error: unknown) =>
        logger.warn({ error: describeError(error) }, 'webhooks that are called more slowly not marked'),
      );
  };

  /** Infinity while starts are drawn. */
  let drawsFromMs = -Infinity;
  const draw = async () => {
    const fromMs = performance.now();
    if (draining || fromMs < drawsFromMs) return;
    const wanted = scheduler.pacing.wanted(fromMs);
    if (wanted.length === 0) return;
    drawsFromMs = Infinity;
    let pauseMs = pageRetryPauseMs;
    try {
      const asked = wanted.map(({ pace: { webhookId }, count }) => ({ webhookId, count }));
      const starts = await drawStarts(leaseDb, asked, options.paces.drawnWithinMs);
      const nowMs = performance.now();
      for (const { pace } of wanted) scheduler.pacing.drawn(pace, starts.get(pace.webhookId) ?? null, nowMs);
      pauseMs = Math.min(maxDrawPauseMs, Math.max(minDrawPauseMs, (nowMs - fromMs) * drawPauseFactor));
    } catch (error) {
      logger.warn(
        { error: describeError(error) },
        'starts of webhooks with maxPerSecond not drawn; retrying',
      );
    }
    drawsFromMs = performance.now() + pauseMs;
    startAndPull();
  };
  let starting: NodeJS.Timeout | undefined;
  let startsLookedForAtMs = -Infinity;
  const grantStarts = (nowMs: number) => {
    const isSoon = nowMs - startsLookedForAtMs < startsEveryMs;
    const dueMs = isSoon ? startsLookedForAtMs + startsEveryMs : scheduler.pacing.grantStarts(nowMs);
    if (!isSoon) startsLookedForAtMs = nowMs;
    const nextMs = scheduler.pacing.isWanted ? Math.min(dueMs, drawsFromMs) : dueMs;
    clearTimeout(starting);
    if (nextMs < Infinity && !draining)
      starting = setTimeout(startAndPull, Math.max(startsEveryMs, nextMs - nowMs));
  };

  return {
    accept,
    redeliver,
    hasRoomForOrder: (shipperId, orders) =>
      performance.now() - lastEndAtMs >= stalledAfterMs ||
      scheduler.hasRoomForOrder(shipperId, orders, performance.now()),
    limitShippers: (limits) => {
      scheduler.limits.set(limits);
      if (scheduler.isHolding() || scheduler.behind().length > 0) startAndPull();
    },
    heldBack: () => scheduler.heldBack(performance.now()),
    lastEndAtMs: () => lastEndAtMs,
    reserve: (shipperIds) => scheduler.reserve(shipperIds, performance.now()),
    recorded: (room, claims, left, asOfMs) => {
      scheduler.claimed(claims, asOfMs, room);
      notify(left, true);
      if (draining) giveBackAll(scheduler.stop());
      else startAndPull();
    },
    notify: (due) => notify(due),
    drain: async () => {
      draining = true;
      settler.hurry();
      retries.stop();
      giveBackAll(scheduler.stop());
      await Promise.all([...pages, redelivering]);
      while (scheduler.isHolding()) await sleep(drainPollMs);
      clearInterval(watching);
      clearTimeout(starting);
      await settler.flushed();
      options.onLeft(scheduler.behind()); // flushing may have closed a circuit
      leases.stop();
    },
  };
}

const dueOf = ({ webhookId, dueAt }: DueClaim): Due => ({ webhookId, dueFromMs: dueAt.getTime() });

/** A success this late keeps what its delivery waited for. Keeping costs, and in a burst many come seconds late. */
const lateMs = 5_000;

/**
 * The time that a delivery has waited, by cause, since its event was recorded, or since a later attempt was due. Null for
 * an attempt by hand and, unless all is kept, for a success in time. `sendableMs`: as `answered` returns it.
 */
export function waitedOf(
  {
    claim,
    lane,
    asOfMs,
    sentAtMs,
    dueMs,
  }: Pick<InFlight, 'claim' | 'asOfMs' | 'sentAtMs' | 'dueMs'> & {
    lane: { pacedAtMs: number };
  },
  sendableMs: number,
  { ok, detail, startedAt, queuedMs }: Pick<AttemptOutcome, 'ok' | 'detail' | 'startedAt' | 'queuedMs'>,
): WaitedMs | null {
  if (claim.trigger === 'MANUAL') return null;
  const isFirst = claim.trigger === 'SCHEDULED' && claim.number === 1;
  const sinceMs = isFirst ? Math.min(claim.recordedAt.getTime(), dueMs) : dueMs;
  if (ok && detail === null && startedAt.getTime() - sinceMs < lateMs) return null;
  const calledMs = claim.calledAt?.getTime() ?? -Infinity;
  const sendableFromMs = asOfMs - claim.sendableForMs;
  const waited = { turn: 0, receiver: 0, circuit: 0, paused: 0, rate: 0, us: rounded(sendableMs + queuedMs) };
  if (claim.stoppedBy) waited[claim.stoppedBy] = rounded(calledMs - sinceMs);
  // A delivery claimed as it was recorded has waited for no turn.
  const isInTurn = claim.ordered && claim.sequence > 1 && claim.calledAt !== undefined;
  if (isFirst) waited[isInTurn ? 'turn' : 'us'] += rounded(dueMs - Math.max(sinceMs, calledMs));
  if (sentAtMs !== null)
    waited[lane.pacedAtMs >= sendableFromMs ? 'rate' : 'receiver'] = rounded(
      sentAtMs - sendableFromMs - sendableMs,
    );
  return waited;
}

const rounded = (ms: number) => Math.max(0, Math.round(ms));
