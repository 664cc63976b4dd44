import { z } from 'zod';
import { described } from '../../http/described.js';
import { idInPath, trackingId } from '../../http/fields.js';
import { isUuid } from '../../http/paging.js';
import { route, type Route } from '../../http/route.js';
import { conflict, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import type { Database } from '../../platform/postgres.js';
import { replay } from '../log/answers.js';
import { insertReplay } from './store.js';

const replaysPerWebhook = 10;
const statuses = ['FAILED', 'HELD', 'PENDING'] as const;
const dayMs = 86_400_000;
/** A request takes its time: one that asks for exactly the log's retention is not refused for that. */
const leewayMs = 60_000;
const clockLeewayMs = 5_000;

const isoForm = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2}))?$/;
const momentProblem =
  'must be ISO 8601 with an offset such as 2026-11-21T12:00:00Z, or milliseconds since 1970';
const textOrNumber = z.union([z.string(), z.number()], momentProblem);
const moment = (description: string, example: string) =>
  described(textOrNumber, description, example).transform(toDate);

function toDate(given: string | number, context: z.core.$RefinementCtx<string | number>): Date {
  const digits = typeof given === 'number' ? given : /^\d{1,15}$/.test(given) ? Number(given) : null;
  const date = new Date(digits ?? (isoForm.test(String(given)) ? given : Number.NaN));
  if (date.getTime() >= 0 && date.getTime() < 253_402_300_800_000) return date;
  context.addIssue(momentProblem);
  return z.NEVER;
}

const replayBody = (retentionMs: number) =>
  z
    .object({
      from: moment('First moment: ISO 8601, or milliseconds since 1970.', '2026-11-20T00:00:00Z'),
      to: moment('Last moment.', '2026-11-21T12:00:00Z'),
      status: described(
        z.enum(statuses, `must be one of ${statuses.join(', ')}`),
        'Only deliveries that are this now. Without it also what never had a delivery.',
      ).optional(),
      trackingId: trackingId.regex(/^[A-Z0-9]{1,64}$/, 'must be a trackingId').optional(),
    })
    .meta({ id: 'ReplayRange', description: 'What to catch up on.' })
    .superRefine(({ from, to }, context) => {
      if (from >= to) context.addIssue({ code: 'custom', path: ['from'], message: 'must be before to' });
      if (from.getTime() < Date.now() - retentionMs - leewayMs) {
        const days = Math.round((retentionMs / dayMs) * 10) / 10;
        const message = `must not be earlier than the delivery log is kept, which is ${days} days`;
        context.addIssue({ code: 'custom', path: ['from'], message });
      }
    });

/** Catching up on what a webhook missed (contract, section 4). */
export function replayRoutes({ db, retentionMs }: { db: Database; retentionMs: number }): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/webhooks/:webhookId/replay',
      summary: 'Send what a webhook missed',
      operationId: 'replayWebhook',
      tag: 'Webhooks',
      description:
        'Catches up on the events of a span of time, oldest first: what failed, is held or waits for a retry, and what never was attempted because the webhook was paused, disabled or not yet registered. What succeeded is left alone.',
      answers: { 202: replay },
      errors: { 409: 'Ten replays of this webhook are under way.' },
      bodyExample: { from: '2026-11-20T00:00:00Z', to: '2026-11-21T12:00:00Z' },
      params: z.object({ webhookId: idInPath('The webhook.') }),
      body: replayBody(retentionMs),
      handle: async ({ caller: { shipperId }, params: { webhookId }, body }) => {
        if (!isUuid(webhookId)) throw notFound('This webhook');
        const replayId = newId();
        const range = {
          webhookId,
          shipperId,
          from: body.from,
          // What is recorded from now on reaches the webhook anyhow, also where another host's clock is ahead.
          to: new Date(Math.min(body.to.getTime(), Date.now() + clockLeewayMs)),
          deliveryStatus: body.status ?? null,
          trackingId: body.trackingId ?? null,
        };
        const added = await insertReplay(db, replayId, range, replaysPerWebhook);
        if (!added) throw notFound(body.trackingId ? 'This webhook or shipment' : 'This webhook');
        if (added === 'tooMany')
          throw conflict(`${replaysPerWebhook} replays of this webhook are under way; wait for one to end.`);
        return { httpStatus: 202, data: { queued: added.total, replayId } };
      },
    }),
  ];
}
