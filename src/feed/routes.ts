import type { Request, Response } from 'express';
import * as z from 'zod';
import { notification } from '../webhooks/notification-docs.js';
import { isoOffset, route, type Route } from '../http/route.js';
import {
  trackingIdToFind,
  described,
  exampleIds,
  instantInQuery,
  evenIfFieldsAreWrong,
  instant,
  trackingId,
} from '../http/request/fields.js';
import { paging } from '../http/request/paging.js';
import { duration } from '../platform/quantity.js';
import type { Database } from '../platform/database/postgres.js';
import { type Gate, createGate } from '../platform/limits/gate.js';
import { cursorForm, decodeCursor, encodeCursor, origin, type FeedRow, type Selection } from './store.js';
import { beginReading, type FeedPage, type Start, type Watcher, createWatcher } from './read.js';
import { tooManyRequests } from '../platform/errors.js';
import type { Logger } from '../platform/telemetry/logger.js';

interface FeedDependencies extends Pick<FeedRouteDependencies, 'db' | 'retentionMs' | 'stillAllowed'> {
  /** Waiting requests of all shippers; each keeps a connection open. */
  maxWaiting: number;
  logger: Logger;
  onRefused(): void;
}

const maxWaitingPerShipper = 50;
/** The limit of a shipper; a single response may exceed it. */
const maxUnreadBytes = 8 << 20;
/** Uses two connections to PostgreSQL; the watcher uses one more while a request waits. */
const reads = { concurrency: 2, maxWaiting: 2_000, maxWaitMs: 5_000 };

export function createFeed(deps: FeedDependencies) {
  const watcher = createWatcher(deps.db, deps.logger);
  const bounds = createFeedBounds(deps);
  return {
    route: feedRoute({ ...deps, gate: createGate(reads), bounds, watcher }),
    /** Requests that wait for events of these shippers are checked soon. */
    nudge: watcher.nudge,
    waiting: bounds.waiting,
    /** Ends all waits with an empty page, those that begin later, too. */
    endWaits: watcher.stop,
  };
}

interface FeedRouteDependencies {
  db: Database;
  /** Bounds reads. Waiting requests read through the watcher. */
  gate: Gate;
  bounds: FeedBounds;
  watcher: Watcher;
  retentionMs: number;
  stillAllowed(request: Request): Promise<unknown>;
}

const longestWaitMs = 30_000;
/** Lost access must take effect on every process within 10 s. */
const checkEveryMs = 2_000;

const cursorAfter = (eventId: string) =>
  encodeCursor({ ...origin, epoch: '5f0c1e0e-7d0b-4c2e-9a53-3f6d2a1b9c84', eventId, timeMs: 0 });
const earlierEventId = '01a1fdf6-9c80-7a3b-8041-5c6d7e8f90a1';

const feedEvent = z
  .object({
    eventId: described(
      z.string(),
      'Identifier of the event; the `webhook-id` of its notifications.',
      exampleIds.eventId,
    ),
    sequence: described(z.int().min(1), 'Number of the event within its shipment, from 1.', 1),
    trackingId,
    state: described(z.string(), 'The new state of the shipment.', 'CREATED'),
    recordedAt: instant('When it was recorded.'),
    notification,
  })
  .meta({ id: 'FeedEvent', description: 'A state change of a shipment.' });

const feedPage = z
  .object({
    events: z.array(feedEvent),
    nextCursor: described(
      z.string(),
      'Where to continue: send it as `after`. It is set even if nothing follows yet.',
      cursorAfter(exampleIds.eventId),
    ),
  })
  .meta({ description: 'Events, oldest first.' });

const form = new RegExp(`^(?:latest|${cursorForm.source.slice(1, -1)})$`);
const feedQuery = z
  .object({
    after: described(
      z.string().regex(form, 'must be the nextCursor of an earlier response, or latest'),
      'Events after this: the `nextCursor` of the previous response, or `latest` for future events only. It is a place among all events, so `trackingId` may change from page to page. Without it and without `from`, the log is read from its beginning.',
      cursorAfter(earlierEventId),
    )
      .transform((text) => (text === 'latest' ? text : decodeCursor(text)))
      .optional(),
    from: instantInQuery(
      'Events recorded at this time or later, as far back as the log goes. A future time counts as now. Cannot be combined with `after`',
      '2026-11-21T00:00:00Z',
    ),
    limit: paging.limit,
    trackingId: trackingIdToFind.optional(),
    wait: described(
      z.string(),
      'How long to wait if there are no events yet: up to 30 s. The response comes with the first event, or empty.',
      '30s',
      { pattern: '^(?:0|(?:[12]?\\d|30)s|(?:[12]?\\d{1,4}|30000)ms)$' },
    )
      .pipe(duration({ minMs: 0, maxMs: longestWaitMs }))
      .optional(),
  })
  .refine(({ after, from }) => after === undefined || from === undefined, {
    path: ['from'],
    error: 'cannot be combined with after',
    ...evenIfFieldsAreWrong,
  });

/** The feed that receivers reconcile against. */
const feedRoute = (deps: FeedRouteDependencies): Route =>
  route({
    method: 'get',
    path: '/v1/events',
    ungated: true, // it may wait for half a minute; its reads have a gate
    summary: 'Read the feed of events, oldest first',
    operationId: 'listEvents',
    tag: 'Events',
    description:
      'Every state change of your shipments, in the order of commit. No event ever appears before a cursor that was already returned, and the events of a shipment come in sequence. A reader that follows the cursors gets every event exactly once. A cursor is refused with 400 if it is older than the log (30 days by default), or if the database was restored or replaced by a standby since.',
    responses: { 200: feedPage },
    errors: {
      429: 'Too many requests, or 50 requests are waiting already, or too many responses are unread.',
    },
    query: feedQuery,
    handle: async ({ caller: { shipperId }, query }, { request, response }) => {
      const { after, from = new Date(0), wait = 0 } = query;
      const selection = { shipperId, trackingId: query.trackingId ?? null, limit: query.limit };
      const start: Start = after === undefined ? { from } : { after };
      const first = await deps.gate.run(shipperId, () =>
        beginReading(deps.db, selection, start, deps.retentionMs),
      );
      const page =
        first.events.length > 0 || wait === 0
          ? first
          : await untilNews(deps, selection, first, wait, request, response);
      if (!page || response.destroyed) return null;
      const sizeBytes = page.events.reduce((sum, { body }) => sum + body.length, 0);
      if (sizeBytes > 0) deps.bounds.countResponse(shipperId, sizeBytes, response);
      return { data: responseOf(page) };
    },
  });

async function untilNews(
  { bounds, watcher, stillAllowed }: FeedRouteDependencies,
  selection: Selection,
  empty: FeedPage,
  waitMs: number,
  request: Request,
  response: Response,
): Promise<FeedPage | null> {
  if (response.destroyed) return null;
  const leavePlace = bounds.wait(selection.shipperId);
  response.locals.slowByDesign = true;
  const { found, leave } = watcher.wait(selection, empty.next);
  response.once('close', leave);
  const timeout = setTimeout(leave, waitMs);
  let checks: NodeJS.Timeout | undefined;
  const refused = new Promise<never>((_, reject) => {
    checks = setInterval(() => void stillAllowed(request).catch(reject), checkEveryMs);
  });
  try {
    const page = await Promise.race([found, refused]);
    if (response.destroyed) return null;
    await stillAllowed(request);
    return page ?? empty;
  } finally {
    clearTimeout(timeout);
    clearInterval(checks);
    response.off('close', leave);
    leave();
    leavePlace();
  }
}

const responseOf = ({ events, next }: FeedPage) => ({
  events: events.map(viewOf),
  nextCursor: encodeCursor(next),
});

function viewOf({ eventId, externalId, sequence, recordedAt, body }: FeedRow) {
  const notification = JSON.parse(body) as { tracking_id: string; state: string };
  return {
    eventId: externalId ?? eventId,
    sequence,
    trackingId: notification.tracking_id,
    state: notification.state,
    recordedAt: isoOffset(recordedAt),
    notification,
  };
}

type FeedBounds = ReturnType<typeof createFeedBounds>;

function createFeedBounds({ maxWaiting, onRefused }: Pick<FeedDependencies, 'maxWaiting' | 'onRefused'>) {
  const places = createGate({ concurrency: maxWaiting, concurrencyPerKey: maxWaitingPerShipper });
  const unread = new Map<string, number>();
  const add = (shipperId: string, bytes: number) => {
    const total = (unread.get(shipperId) ?? 0) + bytes;
    if (total > 0) unread.set(shipperId, total);
    else unread.delete(shipperId);
  };
  const refuse = (message: string) => {
    onRefused();
    return tooManyRequests(message, 1);
  };

  return {
    /**
     * Counts a request that waits, until the returned function is called. Throws TOO_MANY_REQUESTS if too many wait.
     */
    wait: (shipperId: string) => {
      const leave = places.enter(shipperId);
      if (leave) return leave;
      throw refuse(
        places.working(shipperId) < maxWaitingPerShipper
          ? 'Too many requests are waiting.'
          : `At most ${maxWaitingPerShipper} requests may wait at once.`,
      );
    },
    waiting: () => places.working(),
    /** Counts a response until its client has read it. Throws TOO_MANY_REQUESTS if too much is unread. */
    countResponse: (shipperId: string, sizeBytes: number, response: Response) => {
      const before = unread.get(shipperId) ?? 0;
      if (before > 0 && before + sizeBytes > maxUnreadBytes) throw refuse('Too many responses are unread.');
      if (response.destroyed) return; // `close` was emitted already
      add(shipperId, sizeBytes);
      response.once('close', () => add(shipperId, -sizeBytes));
    },
  };
}
