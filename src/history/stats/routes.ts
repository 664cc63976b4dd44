import * as z from 'zod';
import { described, idInPath } from '../../http/request/fields.js';
import { isUuid } from '../../http/request/paging.js';
import { route, type Route } from '../../http/route.js';
import { notFound } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import { stats } from '../../webhooks/responses.js';
import { findWebhook } from '../../webhooks/store.js';
import { isoOffset } from '../../http/envelope.js';
import { maxHours, readHours } from './store.js';

export const defaultHours = 24;

/** The counts of each, by id, as the API shows them. */
export async function webhookStats(
  db: Database,
  webhookIds: string[],
  hours: number,
): Promise<Map<string, { hours: object[] }>> {
  const stats = new Map(webhookIds.map((webhookId) => [webhookId, { hours: [] as object[] }]));
  for (const { webhookId, hour, succeeded, failed, p50Ms, p95Ms } of await readHours(db, webhookIds, hours))
    stats.get(webhookId)!.hours.push({
      hour: isoOffset(hour),
      attempts: succeeded + failed,
      succeeded,
      failed,
      p50Ms,
      p95Ms,
    });
  return stats;
}

const hours = described(z.string(), 'How many hours, including the current one.', defaultHours, {
  type: 'integer',
  minimum: 1,
  maximum: maxHours,
})
  .default(String(defaultHours))
  .meta({ default: defaultHours })
  .transform((text) => (/^\d{1,3}$/.test(text) ? Number(text) : 0))
  .refine((n) => n >= 1 && n <= maxHours, `must be a whole number from 1 to ${maxHours}`);

export function statsRoutes({ db }: { db: Database }): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/webhooks/:webhookId/stats',
      cost: 'costly',
      summary: 'Count the attempts of a webhook by hour',
      operationId: 'getWebhookStats',
      tag: 'Webhooks',
      description:
        'Every attempt in the log counts in the hour in which it began, including redeliveries, replays and notices, but not tests. It counts as soon as the log shows it, and only once.',
      responses: { 200: stats },
      params: z.object({ webhookId: idInPath('The webhook.') }),
      query: z.object({ hours }),
      handle: async ({ caller, params: { webhookId }, query }) => {
        const found = isUuid(webhookId) && (await findWebhook(db, caller.shipperId, webhookId));
        if (!found) throw notFound('This webhook');
        return { data: (await webhookStats(db, [webhookId], query.hours)).get(webhookId)! };
      },
    }),
  ];
}
