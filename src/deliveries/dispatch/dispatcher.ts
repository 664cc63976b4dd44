import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../platform/errors.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import { pullDue } from '../outbox/claim.js';
import { distinctDue, type Due, type HandOver } from '../outbox/hand-over.js';
import type { DueClaim } from '../outbox/types.js';
import { createRecorder, type RecorderOptions } from '../record/recorder.js';
import { sendClaim, type SendingOptions } from '../send/request.js';
import type { Targets } from '../send/targets.js';
import type { Times } from '../times.js';
import { createLeases } from './leases.js';
import { createRetries } from './retries.js';
import { createScheduler, type Page, type Start } from './scheduler.js';

export interface DispatcherOptions
  extends SendingOptions, Omit<RecorderOptions, 'notify' | 'retryAt' | 'onNotCallable' | 'leisure'> {
  /** Claims, leases and what is done again if it is lost. */
  leaseDb: Database;
  metrics: Metrics;
  targets: Targets;
  times: Times;
  concurrency: number;
  /** Told of webhooks that others must see to, because this process stops. */
  onLeft(due: Due[]): void;
}

export interface Dispatcher extends HandOver {
  /** Sends what is claimed already; `asOfMs` of performance.now(), before the claiming statement was sent. */
  accept(claims: DueClaim[], asOfMs: number): void;
  /**
   * Deliveries recorded just now beyond what their lanes begin at once, but not those of slow lanes, nor what is caught
   * up on; 0 while no attempt comes to an end, for then it is not this process they wait for.
   */
  pressure(): number;
  /**
   * Claims nothing more; resolves when every attempt under way has been recorded, and every reservation is released.
   */
  drain(): Promise<void>;
}

const pagesAtOnce = 2;
const pageAgainMs = 500;
const drainPollMs = 10;
const stalledAfterMs = 300;

/**
 * Carries out what the scheduler decides: pulls, sends, records, gives back. A claim is a lease in PostgreSQL on one
 * attempt number: whatever happens to this process, the sweeper takes the delivery up again when the lease has run
 * out, and a late result is refused.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { leaseDb, logger, metrics, times, concurrency } = options;
  const scheduler = createScheduler({ concurrency, slowMs: times.slowMs });
  const pages = new Set<Promise<void>>();
  let draining = false;
  let pageScheduled = false;
  let lastEndAtMs = 0;

  /** A stopping process passes on what it is told of: requests and jobs may end after it has drained. */
  const notify = (due: Due[], isFresh = false) => {
    if (draining) return options.onLeft(distinctDue(due));
    scheduler.notify(due, isFresh);
    schedulePage();
  };
  const leases = createLeases({ ...options, held: scheduler.held, isDraining: () => draining, notify });
  const retries = createRetries(notify);
  const recorder = createRecorder({
    ...options,
    notify,
    retryAt: retries.at,
    onNotCallable: (webhookIds) => giveBackAll(scheduler.returnPending(webhookIds)),
    leisure: () => {
      const { quick, unknown, slow } = scheduler.usage().inFlight;
      return quick + unknown + slow < concurrency / 3;
    },
  });
  metrics.attemptSlots.set(concurrency);
  metrics.onScrape(() => {
    const { quick, unknown, slow } = scheduler.usage().inFlight;
    metrics.attemptsInFlight.set(quick + unknown + slow);
  });

  const carryOn = () => {
    for (const start of scheduler.starts(performance.now())) send(start);
    schedulePage();
  };

  // Pages: lanes that are told of in the same turn of the event loop share a statement.

  const schedulePage = () => {
    if (pageScheduled || draining || pages.size >= pagesAtOnce) return;
    pageScheduled = true;
    setImmediate(() => {
      pageScheduled = false;
      while (!draining && pages.size < pagesAtOnce) {
        const page = scheduler.nextPage(performance.now());
        if (!page) return;
        const pulling = pull(page).finally(() => {
          pages.delete(pulling);
          carryOn();
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
      const claims = await pullDue(leaseDb, wanted, times.leaseMs);
      if (claims.length > 0) metrics.batchSize.observe({ batch: 'claims' }, claims.length);
      scheduler.claimed(claims, asOfMs, page);
      if (draining) giveBackAll(scheduler.stop());
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'not pulled');
      await sleep(draining ? 0 : pageAgainMs);
      scheduler.pageFailed(page);
    }
  };

  // Attempts

  const send = ({ claim, asOfMs }: Start) => {
    let durationMs: number | null = null;
    attempt(claim, asOfMs)
      .then((ms) => (durationMs = ms))
      .catch((error: unknown) =>
        logger.error(
          { deliveryId: claim.deliveryId, attempt: claim.number, error: describeError(error) },
          'attempt not recorded; it will be taken up again',
        ),
      )
      .finally(() => {
        lastEndAtMs = performance.now();
        scheduler.ended(claim, durationMs);
        carryOn();
      });
  };
  /** Resolves with its duration; null where none was made. */
  const attempt = async (claim: DueClaim, asOfMs: number): Promise<number | null> => {
    const target = await options.targets.of(claim).catch(logFailure);
    const outcome = target ? await sendClaim(options, claim, target, asOfMs) : null;
    if (!target || !outcome) {
      await leases.giveBack(claim);
      notify([dueOf(claim)]);
      return null;
    }
    await recorder.record(claim, target.storedAddress, outcome);
    return outcome.durationMs;
  };
  const giveBackAll = (claims: DueClaim[]) => {
    for (const claim of claims)
      leases
        .giveBack(claim)
        .catch(logFailure)
        .finally(() => {
          scheduler.ended(claim, null);
          notify([dueOf(claim)]); // the pages have passed over it
        });
  };
  const logFailure = (error: unknown) =>
    void logger.warn({ error: describeError(error) }, 'claims not sent; they will be taken up again');

  const watching = setInterval(() => {
    giveBackAll(scheduler.slow(performance.now()));
    carryOn();
  }, times.slowMs / 10);

  return {
    accept: (claims, asOfMs) => {
      scheduler.claimed(claims, asOfMs, null);
      if (draining) giveBackAll(scheduler.stop());
      else carryOn();
    },
    pressure: () => (performance.now() - lastEndAtMs < stalledAfterMs ? scheduler.pressure() : 0),
    reserve: (shipperIds) => scheduler.reserve(shipperIds, performance.now()),
    recorded: (room, claims, left, asOfMs) => {
      scheduler.claimed(claims, asOfMs, room);
      notify(left, true);
      if (draining) giveBackAll(scheduler.stop());
      else carryOn();
    },
    notify: (due) => notify(due),
    drain: async () => {
      draining = true;
      recorder.hurry();
      retries.stop();
      giveBackAll(scheduler.stop());
      await Promise.all(pages);
      while (scheduler.isHolding()) await sleep(drainPollMs);
      clearInterval(watching);
      await recorder.flushed();
      options.onLeft(scheduler.behind()); // with that, a circuit may have closed
      leases.stop();
    },
  };
}

const dueOf = ({ webhookId, dueAt }: DueClaim): Due => ({ webhookId, dueFromMs: dueAt.getTime() });
