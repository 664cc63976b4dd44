import * as z from 'zod';
import {
  trackingIdToFind,
  described,
  exampleIds,
  idInPath,
  ownIdInQuery,
  instantInQuery,
  stateInQuery,
} from '../../http/request/fields.js';
import { actorOf, audited } from '../../accounts/audit.js';
import { otherWebhook } from '../../accounts/programs/authorize.js';
import { isoOffset, route, type Route } from '../../http/route.js';
import { attemptsCursor, isUuid, pageOf, paging } from '../../http/request/paging.js';
import { notFound } from '../../platform/errors.js';
import { oneOf } from '../../platform/issues.js';
import type { Database } from '../../platform/database/postgres.js';
import { errorCodes } from '../../engine/engine.js';
import { deliveryDetails, deliveryList } from './responses.js';
import { deliveryStatuses } from './page-store.js';
import { attemptsPerPage, findDelivery, listDeliveries, type Delivery } from './store.js';

/** A cursor has an id: here the number of an attempt, in hexadecimal. Only 28 bits of the id that was sent are read. */
const idOfAttempt = (number: number) => `00000000-0000-0000-0000-${number.toString(16).padStart(12, '0')}`;
const numberOfAttempt = (id: string) => parseInt(id.slice(-7), 16);

const httpStatus = /^[1-5]\d\d$/;

function statusProblem(knownStates: ReadonlySet<string>, given: unknown): string {
  if (knownStates.has(given as string))
    return `must be a status; ${given as string} is a state: use state=${given as string}`;
  if (given === 'RETRYING')
    return 'must be a status; a delivery that is retried is PENDING: use status=PENDING';
  return oneOf([...deliveryStatuses, 'UNFINISHED'], given);
}

/** `knownStates` are those that a delivery may send today. */
export const logQuery = (knownStates: ReadonlySet<string>) =>
  z.object({
    ...paging,
    webhookId: idInPath('Only deliveries to this webhook.').refine(isUuid, 'must be a UUID').optional(),
    trackingId: trackingIdToFind.optional(),
    shipperTrackingId: ownIdInQuery(
      'Only deliveries of shipments with this identifier of yours. At most 1,000 shipments may have it.',
    ),
    eventId: described(
      z
        .string()
        .regex(/^[\x21-\x7e]{1,255}$/, 'must be an eventId, which is the webhook-id of a notification'),
      'Only deliveries of this event: the `webhook-id` of a notification.',
      exampleIds.eventId,
    ).optional(),
    state: stateInQuery(knownStates, 'Only deliveries of this state.', deliveryStatuses),
    status: described(
      z.enum([...deliveryStatuses, 'UNFINISHED'], {
        error: ({ input }) => statusProblem(knownStates, input),
      }),
      'Only deliveries with this status now; `UNFINISHED`: `PENDING`, `SENDING` or `HELD`.',
    ).optional(),
    statusCode: described(
      z.string().refine((text) => httpStatus.test(text), {
        error: ({ input }) =>
          errorCodes.some((code) => code === input)
            ? `must be an HTTP status; ${input as string} is an error: use errorCode=${input as string}`
            : 'must be an HTTP status: a whole number from 100 to 599',
      }),
      'Only deliveries whose last attempt got this HTTP status.',
      500,
      { type: 'integer', minimum: 100, maximum: 599 },
    )
      .transform(Number)
      .optional(),
    errorCode: described(
      z.enum(errorCodes, {
        error: ({ input }) =>
          httpStatus.test(String(input))
            ? `must be an error; ${input as string} is an HTTP status: use statusCode=${input as string}`
            : oneOf([...errorCodes], input),
      }),
      'Only deliveries whose last attempt failed with this error.',
    ).optional(),
    from: instantInQuery('Only deliveries of events recorded at this time or later', '2026-11-21T00:00:00Z'),
    to: instantInQuery('Only deliveries of events recorded before this time', '2026-11-22T00:00:00Z'),
    attemptedFrom: instantInQuery(
      'Only deliveries with an attempt at this time or later, and before `attemptedTo`. Tests do not count',
      '2026-11-21T10:00:00Z',
    ),
    attemptedTo: instantInQuery(
      'Only deliveries with an attempt before this time. Tests do not count',
      '2026-11-21T11:00:00Z',
    ),
    attemptFailed: described(
      z.string().refine((text) => /^(?:true|false)$/.test(text), 'must be true or false'),
      'Only deliveries with an attempt that failed (`true`) or succeeded (`false`), between `attemptedFrom` and `attemptedTo` if given. Tests do not count.',
      true,
      { type: 'boolean' },
    )
      .transform((text) => text === 'true')
      .optional(),
  });

type LogQuery = z.output<ReturnType<typeof logQuery>>;

export const listDescription =
  'Shows owed deliveries, and finished ones with their outcome. The log is kept for 30 days by default. With `statusCode`, `errorCode`, `attemptedFrom`, `attemptedTo` or `attemptFailed`, a page checks the attempts of a few thousand deliveries: it may have fewer than `limit`, or none, although more follow. The list ends when `nextCursor` is null.';
export const detailsDescription = 'Shows every attempt, newest first, 100 per page.';

export async function listPage(db: Database, shipperId: string, list: string, query: LogQuery) {
  const { filter, after, rows, cut } = pageOf(`${list} of ${shipperId}`, query);
  const found = await listDeliveries(db, shipperId, filter, after, rows);
  const { page, nextCursor } = cut(found.deliveries, ({ deliveryId }) => deliveryId, found.checkedUpTo);
  return { deliveries: page.map(view), nextCursor };
}

export const detailsParams = z.object({ deliveryId: idInPath('The delivery.') });
export const detailsQuery = z.object({ attemptsCursor });

/** Throws NOT_FOUND if the shipper has no such delivery. */
export async function detailsPage(
  db: Database,
  shipperId: string,
  deliveryId: string,
  query: z.output<typeof detailsQuery>,
) {
  const asked = { limit: attemptsPerPage, cursor: query.attemptsCursor };
  const { after, cut } = pageOf(`attempts of ${deliveryId}`, asked, 'attemptsCursor');
  const before = after === undefined ? undefined : numberOfAttempt(after);
  const found = isUuid(deliveryId) && (await findDelivery(db, shipperId, deliveryId, before));
  if (!found) throw notFound('This delivery');
  const { payload, attempts: rows, ...delivery } = found;
  const { page: attempts, nextCursor } = cut(rows, ({ number }) => idOfAttempt(number));
  return {
    ...view(delivery),
    payload: JSON.parse(payload) as unknown,
    attempts: attempts.map((attempt) => ({ ...attempt, startedAt: isoOffset(attempt.startedAt) })),
    nextAttemptsCursor: nextCursor,
  };
}

export function deliveryRoutes({
  db,
  readDb,
  knownStates,
}: {
  db: Database;
  readDb: Database;
  knownStates: ReadonlySet<string>;
}): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/deliveries',
      cost: 'costly',
      summary: 'List deliveries, newest first',
      operationId: 'listDeliveries',
      tokenScopes: ['webhooks'],
      narrows: true,
      tag: 'Deliveries',
      description: listDescription,
      responses: { 200: deliveryList },
      query: logQuery(knownStates),
      handle: async ({ caller: { shipperId, program }, query }) => {
        const { webhookId = program?.webhookId ?? undefined } = query;
        if (program?.webhookId && webhookId !== program.webhookId) throw otherWebhook(program);
        return { data: await listPage(readDb, shipperId, 'deliveries', { ...query, webhookId }) };
      },
    }),
    route({
      method: 'get',
      path: '/v1/deliveries/:deliveryId',
      cost: 'costly',
      summary: 'Get a delivery with its payload and its attempts',
      operationId: 'getDelivery',
      tokenScopes: ['webhooks'],
      tag: 'Deliveries',
      description: detailsDescription,
      responses: { 200: deliveryDetails },
      params: detailsParams,
      query: detailsQuery,
      handle: async ({ caller, params: { deliveryId }, query }) => {
        const { shipperId } = caller;
        const read = (from: Database) => detailsPage(from, shipperId, deliveryId, query);
        if (caller.support === undefined) return { data: await read(db) };
        const entryOf = ({ webhookId }: { webhookId: string }) =>
          ({ action: 'DELIVERY_READ', shipperId, webhookId }) as const;
        return { data: await audited(db, actorOf(caller), read, entryOf) };
      },
    }),
  ];
}

const view = ({ lastAttempt, ...delivery }: Delivery) => ({
  ...delivery,
  lastAttempt: lastAttempt && { ...lastAttempt, startedAt: isoOffset(new Date(lastAttempt.startedAt)) },
  nextProbeAt: isoOffset(delivery.nextProbeAt),
  nextAttemptAt: isoOffset(delivery.nextAttemptAt),
  createdAt: isoOffset(delivery.createdAt),
  completedAt: isoOffset(delivery.completedAt),
});
