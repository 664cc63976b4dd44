import { z } from 'zod';
import { described } from '../../http/described.js';
import { isoOffset } from '../../http/envelope.js';
import { idInPath, trackingId } from '../../http/fields.js';
import { cutPage, isUuid, paging } from '../../http/paging.js';
import { route, type Route } from '../../http/route.js';
import { notFound } from '../../platform/errors.js';
import type { Database } from '../../platform/postgres.js';
import { deliveryDetails, deliveryList } from './answers.js';
import { findDelivery, listDeliveries, type Delivery } from './store.js';

const statuses = ['PENDING', 'SENDING', 'HELD', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const;
const isoMoment = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+ -]\d{2}:\d{2}))?$/;
const moment = (description: string) =>
  described(z.string(), `${description}: ISO 8601, or milliseconds since 1970.`, '2026-11-21T12:00:00Z')
    // A + that was not percent-encoded arrives as a space.
    .transform((text) =>
      isoMoment.test(text)
        ? new Date(text.replace(' ', '+'))
        : new Date(/^\d{1,15}$/.test(text) ? Number(text) : NaN),
    )
    .refine(
      (date) => date.getTime() >= 0 && date.getTime() < 253_402_300_800_000,
      'must be ISO 8601 such as 2026-11-21T12:00:00Z, or milliseconds since 1970',
    )
    .optional();

const logQuery = z.object({
  ...paging,
  webhookId: idInPath('Only of this webhook.').refine(isUuid, 'must be a UUID').optional(),
  trackingId: trackingId.regex(/^[A-Z0-9]{1,64}$/, 'must be a trackingId').optional(),
  state: described(
    z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be a state name such as CREATED'),
    'Only of this state.',
    'CREATED',
  ).optional(),
  status: described(
    z.enum(statuses, `must be one of ${statuses.join(', ')}`),
    'Only those that are this now.',
  ).optional(),
  from: moment('Only of events recorded then or later'),
  to: moment('Only of events recorded before'),
});

export function deliveryRoutes({ db }: { db: Database }): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/deliveries',
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
      summary: 'Get a delivery with its payload and all attempts',
      operationId: 'getDelivery',
      tag: 'Deliveries',
      answers: { 200: deliveryDetails },
      params: z.object({ deliveryId: idInPath('The delivery.') }),
      handle: async ({ caller, params: { deliveryId } }) => {
        const found = isUuid(deliveryId) && (await findDelivery(db, caller.shipperId, deliveryId));
        if (!found) throw notFound('This delivery');
        const { payload, attempts, ...delivery } = found;
        return {
          data: {
            ...view(delivery),
            payload: JSON.parse(payload) as unknown,
            attempts: attempts.map((attempt) => ({ ...attempt, startedAt: isoOffset(attempt.startedAt) })),
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
