import { z } from 'zod';
import { isoOffset } from '../http/envelope.js';
import { cutPage, isUuid, paging } from '../http/paging.js';
import { route, type Route } from '../http/route.js';
import { notFound } from '../platform/errors.js';
import type { Database } from '../platform/postgres.js';
import { findDelivery, listAttempts, listDeliveries, type Delivery } from './log-store.js';

const statuses = ['PENDING', 'HELD', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const;
const isoMoment = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+ -]\d{2}:\d{2}))?$/;
const moment = z
  .string()
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
  webhookId: z.string().refine(isUuid, 'must be a UUID').optional(),
  trackingId: z
    .string()
    .regex(/^[A-Z0-9]{1,64}$/, 'must be a trackingId')
    .optional(),
  state: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be a state name such as CREATED')
    .optional(),
  status: z.enum(statuses, `must be one of ${statuses.join(', ')}`).optional(),
  from: moment,
  to: moment,
});

export function deliveryRoutes({ db }: { db: Database }): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/deliveries',
      summary: 'List the delivery log, newest first',
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
      params: z.object({ deliveryId: z.string() }),
      handle: async ({ caller, params: { deliveryId } }) => {
        const found = isUuid(deliveryId) && (await findDelivery(db, caller.shipperId, deliveryId));
        if (!found) throw notFound('This delivery');
        const { payload, ...delivery } = found;
        const attempts = await listAttempts(db, deliveryId);
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

const view = (delivery: Delivery) => ({
  ...delivery,
  nextAttemptAt: isoOffset(delivery.nextAttemptAt),
  createdAt: isoOffset(delivery.createdAt),
  completedAt: isoOffset(delivery.completedAt),
});
