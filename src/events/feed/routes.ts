import type { Request, Response } from 'express';
import * as z from 'zod';
import { described } from '../../http/described.js';
import { momentInQuery } from '../../http/request/moments.js';
import { paging } from '../../http/request/paging.js';
import { evenIfFieldsAreWrong, trackingId } from '../../http/request/fields.js';
import { route, type Route } from '../../http/route.js';
import { duration } from '../../platform/duration.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Gate } from '../../platform/limits/gate.js';
import { answerOf, exampleCursor, feedPage } from './answers.js';
import type { FeedBounds } from './bounds.js';
import { cursorForm, decodeCursor } from './cursor.js';
import { beginReading, type FeedPage, type Start } from './read.js';
import type { Selection } from './store.js';
import type { Watcher } from './watcher.js';

export interface FeedRouteDependencies {
  db: Database;
  /** Of reads; who waits reads through the watcher. */
  gate: Gate;
  bounds: FeedBounds;
  watcher: Watcher;
  retentionMs: number;
  /** Throws ApiError where the caller of this request may not call any more. */
  stillAllowed(request: Request): Promise<unknown>;
}

const longestWaitMs = 30_000;
/** Within the time in which a right must end on every process. */
const checkEveryMs = 2_000;

const form = new RegExp(`^(?:latest|${cursorForm.source.slice(1, -1)})$`);
const feedQuery = z
  .object({
    after: described(
      z.string().regex(form, 'must be the nextCursor of an earlier answer, or latest'),
      'Events after this: `nextCursor` of the answer before, or `latest` for those to come. Without it, and without `from`, from where the log begins.',
      exampleCursor,
    )
      .transform((text) => (text === 'latest' ? text : decodeCursor(text)))
      .optional(),
    from: momentInQuery(
      'Events recorded then or later, as far back as the log goes; a moment to come counts as now; not with `after`',
    ),
    limit: paging.limit,
    trackingId: trackingId.regex(/^[A-Z0-9]{1,64}$/, 'must be a trackingId').optional(),
    wait: described(
      z.string(),
      'Where there is none yet, how long to wait for one: up to 30 s. The answer comes with the first, or empty.',
      '30s',
      { pattern: '^(?:(?:[12]?\\d|30)s|(?:[12]?\\d{1,4}|30000)ms)$' },
    )
      .pipe(duration({ minMs: 0, maxMs: longestWaitMs }))
      .optional(),
  })
  .refine(({ after, from }) => after === undefined || from === undefined, {
    path: ['from'],
    error: 'must not be there beside after',
    ...evenIfFieldsAreWrong,
  });

/** What a receiver reconciles against (contract, section 4). */
export const feedRoute = (deps: FeedRouteDependencies): Route =>
  route({
    method: 'get',
    path: '/v1/events',
    takesNoTurn: true, // it may wait for half a minute; its reads have a gate
    summary: 'Read the feed of events, oldest first',
    operationId: 'listEvents',
    tag: 'Events',
    description:
      'Every state of your shipments, in the order in which they were committed: no event ever appears behind a cursor that was given out, and those of one shipment come in their sequence. Whoever follows it from cursor to cursor has seen everything, once. A cursor older than the log (30 days unless configured otherwise), or of a database that was restored or replaced by a standby since, is 400.',
    answers: { 200: feedPage },
    errors: {
      429: 'Too many requests; or fifty wait already, or many answers were not read.',
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
      if (sizeBytes > 0) deps.bounds.answer(shipperId, sizeBytes, response);
      return { data: answerOf(page) };
    },
  });

/** The page that comes, or the empty one after the time; null where the client has gone. */
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
  response.locals.waits = true;
  const { found, leave } = watcher.wait(selection, empty.next);
  response.once('close', leave);
  const over = setTimeout(leave, waitMs);
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
    clearTimeout(over);
    clearInterval(checks);
    response.off('close', leave);
    leave();
    leavePlace();
  }
}
