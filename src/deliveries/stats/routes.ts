import * as z from 'zod';
import { described } from '../../http/described.js';
import { idInPath } from '../../http/request/fields.js';
import { isUuid } from '../../http/request/paging.js';
import { route, type Route } from '../../http/route.js';
import { notFound } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import { stats } from '../../webhooks/answers.js';
import { findWebhook } from '../../webhooks/store.js';
import { defaultHours, maxHours, webhookStats } from './stats.js';

const hours = described(z.string(), 'How many, the current one included.', defaultHours, {
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
      cost: 'dear',
      summary: 'Count the attempts of a webhook by the hour',
      operationId: 'getWebhookStats',
      tag: 'Webhooks',
      description:
        'Every attempt that is in the log counts in the hour in which it began, redeliveries, replays and notices too, tests not: as soon as the log shows it, and never twice.',
      answers: { 200: stats },
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
