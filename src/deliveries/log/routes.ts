import * as z from 'zod';
import { described } from '../../http/described.js';
import { isoOffset } from '../../http/envelope.js';
import { idInPath, ownIdInQuery, trackingId } from '../../http/request/fields.js';
import { momentInQuery } from '../../http/request/moments.js';
import { cutPage, isUuid, paging } from '../../http/request/paging.js';
import { route, type Route } from '../../http/route.js';
import { notFound } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import { deliveryDetails, deliveryList } from './answers.js';
import { attemptsCursor, cutAttempts } from './attempts.js';
import { deliveryStatuses } from './page-store.js';
import { findDelivery, listDeliveries, type Delivery } from './store.js';

const logQuery = z.object({
  ...paging,
  webhookId: idInPath('Only of this webhook.').refine(isUuid, 'must be a UUID').optional(),
  trackingId: trackingId.regex(/^[A-Z0-9]{1,64}$/, 'must be a trackingId').optional(),
  shipperTrackingId: ownIdInQuery('Only of shipments that bear it, which may be 1,000 at most.'),
  state: described(
    z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be a state name such as CREATED'),
    'Only of this state.',
    'CREATED',
  ).optional(),
  status: described(
    z.enum(deliveryStatuses, `must be one of ${deliveryStatuses.join(', ')}`),
    'Only those that are this now.',
  ).optional(),
  from: momentInQuery('Only of events recorded then or later'),
  to: momentInQuery('Only of events recorded before'),
});

export function deliveryRoutes({ db }: { db: Database }): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/deliveries',
      cost: 'dear',
      summary: 'List deliveries, newest first',
      operationId: 'listDeliveries',
      tag: 'Deliveries',
      description:
        'The log of what is owed to your webhooks and what became of it. It is kept 30 days unless configured otherwise.',
      answers: { 200: deliveryList },
      query: logQuery,
      handle: async ({ caller, query: { limit, cursor, ...filter } }) => {
        const rows = await listDeliveries(db, caller.shipperId, filter, cursor, limit + 1);
        const { page, nextCursor } = cutPage(rows, limit, (delivery) => delivery.deliveryId);
        return { data: { deliveries: page.map(view), nextCursor } };
      },
    }),
    route({
      method: 'get',
      path: '/v1/deliveries/:deliveryId',
      cost: 'dear',
      summary: 'Get a delivery with its payload and its attempts',
      operationId: 'getDelivery',
      tag: 'Deliveries',
      description: 'All attempts are in the log, the newest first; an answer has 100 of them.',
      answers: { 200: deliveryDetails },
      params: z.object({ deliveryId: idInPath('The delivery.') }),
      query: z.object({ attemptsCursor }),
      handle: async ({ caller, params: { deliveryId }, query }) => {
        const found =
          isUuid(deliveryId) && (await findDelivery(db, caller.shipperId, deliveryId, query.attemptsCursor));
        if (!found) throw notFound('This delivery');
        const { payload, attempts: rows, ...delivery } = found;
        const { attempts, nextAttemptsCursor } = cutAttempts(rows);
        return {
          data: {
            ...view(delivery),
            payload: JSON.parse(payload) as unknown,
            attempts: attempts.map((attempt) => ({ ...attempt, startedAt: isoOffset(attempt.startedAt) })),
            nextAttemptsCursor,
          },
        };
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
