import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import { pullDue, type PulledClaim, type Wanted } from '../outbox/claim.js';
import { mayLieBehind } from '../outbox/hand-over.js';
import type { Unattended } from '../outbox/types.js';
import { beginPage, endPage, toldOf, type Page } from './lanes/backlog.js';
import type { Budget } from './lanes/budget.js';
import type { Lane, Lanes } from './lanes/lanes.js';

export interface PullerOptions {
  leaseDb: Database;
  logger: Logger;
  metrics: Metrics;
  lanes: Lanes;
  leaseMs: number;
  budget: Pick<Budget, 'forBacklogs'>;
  onClaimed(claims: PulledClaim[], issuedAt: number): void;
}

export interface Puller {
  /** PostgreSQL holds something due for these webhooks: it is pulled as soon as their lanes have room. */
  look(webhookIds: string[]): void;
  /**
   * As `look`, of what a statement made due that was sent at `issuedAt` (performance.now()): unless it ran long, what lies
   * before the last page is not looked at.
   */
  lookAhead(webhookIds: string[], issuedAt: number): void;
  /** As `look`, but no page begins before what is said to be due. */
  lookFrom(unattended: Unattended[]): void;
  /** The lane may have room now. */
  offer(lane: Lane): void;
  /** There may be room again for whoever wants it. */
  wake(): void;
  /** Webhooks of which something may be due that was not pulled. */
  unserved(): string[];
  /** Pulls nothing more; resolves when no statement is under way. */
  stop(): Promise<void>;
}

interface Chosen {
  lane: Lane;
  room: number;
  /** What the lane was when it was chosen. */
  kind: 'slow' | 'quick';
}

const statementsAtOnce = 2;
const lanesPerStatement = 200;
const claimsPerStatement = 200;
const againAfterMs = 500;

/**
 * Fills lanes that have room with what PostgreSQL holds for them, page by page and one statement for many lanes: the
 * pace is the receivers'. Each page begins where the last one ended, for under an old snapshot the index is full of
 * entries of what is gone long since.
 */
export function createPuller(options: PullerOptions): Puller {
  const { lanes, logger } = options;
  const hungry = createHungry();
  const underWay = new Set<Promise<void>>();
  /** What statements under way may bring, to slow lanes and to others: two that count on the same room overfill it. */
  const awaited = { slow: 0, quick: 0 };
  let stopped = false;
  let scheduled = false;

  /** A handful at a time: claims that share a statement cost a fraction of single ones. */
  const worthwhile = (lane: Lane, room: number) =>
    room > 0 && (lane.active + lane.waiting.length === 0 || room >= lane.limit / 2);

  const choose = (): Chosen[] => {
    const spareFor = options.budget.forBacklogs();
    const kindOf = (lane: Lane) => (lane.slow ? 'slow' : 'quick');
    const roomFor = (lane: Lane) => Math.min(lanes.roomIn(lane), spareFor(lane) - awaited[kindOf(lane)]);
    const fitting: Lane[] = [];
    for (const lane of hungry.inTurns()) {
      if (worthwhile(lane, roomFor(lane))) fitting.push(lane);
      if (fitting.length === lanesPerStatement) break;
    }
    // Of ten thousand webhooks each may have one delivery due: room for eighty would fill a statement with two of them.
    const share = Math.ceil(claimsPerStatement / fitting.length);
    const chosen: Chosen[] = [];
    let left = claimsPerStatement;
    for (const lane of fitting) {
      const kind = kindOf(lane);
      const room = Math.min(roomFor(lane), share, left);
      if (room <= 0) continue;
      left -= room;
      hungry.delete(lane);
      lane.reserved += room;
      awaited[kind] += room;
      chosen.push({ lane, room, kind });
    }
    return chosen;
  };

  const pull = async (chosen: Chosen[]): Promise<void> => {
    const issuedAt = performance.now();
    const wanted = chosen.map(({ lane: { webhookId, backlog }, room }): Wanted => {
      return { webhookId, room, since: beginPage(backlog) };
    });
    let claims: PulledClaim[] = [];
    let failed = false;
    try {
      claims = await pullDue(options.leaseDb, wanted, options.leaseMs);
    } catch (error) {
      failed = true;
      logger.warn({ error: describeError(error) }, 'not pulled');
    }
    if (claims.length > 0) options.metrics.batchSize.observe({ batch: 'claims' }, claims.length);
    const pages = new Map<Lane, Page>(
      chosen.map(({ lane }) => [lane, { pulled: 0, lastDueMs: -Infinity, failed }]),
    );
    for (const { webhookId, dueAt } of claims) {
      const page = pages.get(lanes.of(webhookId))!;
      page.pulled += 1;
      page.lastDueMs = Math.max(page.lastDueMs, dueAt.getTime());
    }
    for (const { lane, room, kind } of chosen) {
      lane.reserved -= room;
      awaited[kind] -= room;
      endPage(lane.backlog, room, pages.get(lane)!);
    }
    options.onClaimed(claims, issuedAt);
    if (failed) setTimeout(() => chosen.forEach(({ lane }) => offer(lane)), againAfterMs).unref();
    else for (const { lane } of chosen) offer(lane);
  };

  const pump = () => {
    scheduled = false;
    while (!stopped && underWay.size < statementsAtOnce) {
      const chosen = choose();
      if (chosen.length === 0) return;
      const pulling = pull(chosen).finally(() => {
        underWay.delete(pulling);
        schedule();
      });
      underWay.add(pulling);
    }
  };
  /** Lanes that are told of in the same turn of the event loop share a statement. */
  const schedule = () => {
    if (scheduled || stopped || hungry.isEmpty()) return;
    scheduled = true;
    setImmediate(pump);
  };

  const offer = (lane: Lane) => {
    if (lane.backlog.mayBeDue && !lane.backlog.pulling) hungry.add(lane);
    schedule(); // the room may be another lane's that found none before
  };

  const tell = (webhookId: string, fromMs: number) => {
    const lane = lanes.of(webhookId);
    toldOf(lane.backlog, fromMs);
    offer(lane);
  };

  return {
    look: (webhookIds) => webhookIds.forEach((webhookId) => tell(webhookId, -Infinity)),
    lookAhead: (webhookIds, issuedAt) => {
      const fromMs = mayLieBehind(issuedAt) ? -Infinity : Infinity;
      for (const webhookId of webhookIds) tell(webhookId, fromMs);
    },
    lookFrom: (unattended) => unattended.forEach(({ webhookId, dueAt }) => tell(webhookId, dueAt.getTime())),
    offer,
    wake: schedule,
    unserved: () => [...lanes.all()].flatMap((lane) => (lane.backlog.mayBeDue ? [lane.webhookId] : [])),
    stop: async () => {
      stopped = true;
      await Promise.all(underWay);
    },
  };
}

/** Lanes that want more. Shippers take turns: one with ten thousand lanes has no more turns than one with one. */
function createHungry() {
  const byShipper = new Map<string, Set<Lane>>();
  const shipperOf = new Map<Lane, string>(); // as it was known when the lane came
  return {
    isEmpty: () => shipperOf.size === 0,
    add: (lane: Lane) => {
      if (shipperOf.has(lane)) return;
      shipperOf.set(lane, lane.shipperId);
      byShipper.set(lane.shipperId, (byShipper.get(lane.shipperId) ?? new Set()).add(lane));
    },
    /** The lane had its turn, and its shipper with it. */
    delete: (lane: Lane) => {
      const shipperId = shipperOf.get(lane) ?? '';
      const lanes = byShipper.get(shipperId);
      shipperOf.delete(lane);
      byShipper.delete(shipperId);
      lanes?.delete(lane);
      if (lanes && lanes.size > 0) byShipper.set(shipperId, lanes);
    },
    *inTurns(): Generator<Lane> {
      let turns = [...byShipper.values()].map((lanes) => lanes.values());
      while (turns.length > 0) {
        const left: typeof turns = [];
        for (const lanes of turns) {
          const { value, done } = lanes.next();
          if (done) continue;
          yield value;
          left.push(lanes);
        }
        turns = left;
      }
    },
  };
}
