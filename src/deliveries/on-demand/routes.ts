import * as z from 'zod';
import { described } from '../../http/described.js';
import { isoOffset } from '../../http/envelope.js';
import { idInPath } from '../../http/request/fields.js';
import { isUuid } from '../../http/request/paging.js';
import { route, type Route } from '../../http/route.js';
import { conflict, notFound, tooManyRequests } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import { findWebhook } from '../../webhooks/store.js';
import type { WebhookLimits } from '../../webhooks/limits.js';
import { redelivery, testResult } from '../log/answers.js';
import { findDelivery } from '../log/store.js';
import { findRedeliverable, isErased, redeliveriesPerDay, requestRedelivery } from './store.js';
import type { TestResult } from './test.js';

export interface OnDemandDependencies {
  db: Database;
  /** What a test sends unless the caller names a state. */
  sampleState: string;
  knownStates: ReadonlySet<string>;
  sendTest(shipperId: string, webhookId: string, state: string): Promise<TestResult>;
  /** Makes a worker send it at once. */
  enqueueRedelivery(deliveryId: string): void;
  limits: WebhookLimits;
}

export const tooManyByHand =
  'so much was asked for by hand of the webhook, your webhooks or their destination within an hour.';

/** Sending by hand: tests and redeliveries (contract, section 4). */
export function onDemandRoutes(deps: OnDemandDependencies): Route[] {
  const { db, knownStates } = deps;
  const state = described(
    z.string().refine((name) => knownStates.has(name), `must be one of ${[...knownStates].join(', ')}`),
    'State that the sample tells.',
    deps.sampleState,
    { enum: [...knownStates] },
  ).default(deps.sampleState);
  return [
    route({
      method: 'post',
      path: '/v1/webhooks/:webhookId/test',
      takesNoTurn: true, // it waits for the receiver
      summary: 'Send a sample notification now',
      operationId: 'testWebhook',
      tag: 'Webhooks',
      description:
        'Whatever the status of the webhook. The sample has `TEST` as `tracking_id`; it is tried once, and the attempt is answered as it is in the log.',
      answers: { 200: testResult },
      errors: { 429: `Five tests of yours are under way, or ${tooManyByHand}` },
      params: z.object({ webhookId: idInPath('The webhook.') }),
      body: z.object({ state }).default({ state: deps.sampleState }),
      handle: async ({ caller, params: { webhookId }, body }) => {
        const { shipperId } = caller;
        const webhook = isUuid(webhookId) && (await findWebhook(db, shipperId, webhookId));
        if (!webhook) throw notFound('This webhook');
        await deps.limits.byHand({ ...webhook, shipperId });
        const attempt = await deps.sendTest(shipperId, webhookId, body.state);
        return { data: { ...attempt, startedAt: isoOffset(attempt.startedAt) } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/deliveries/:deliveryId/redeliver',
      summary: 'Send a delivery again now',
      operationId: 'redeliver',
      tag: 'Deliveries',
      description:
        'One attempt outside the schedule, with the same `webhook-id`, also after success. If it fails, all is as it was.',
      answers: { 202: redelivery },
      errors: {
        409: 'The delivery was cancelled, its webhook is deleted, or what it tells was erased.',
        429: `The delivery was sent again ${redeliveriesPerDay} times in a day, or ${tooManyByHand}`,
      },
      params: z.object({ deliveryId: idInPath('The delivery.') }),
      handle: async ({ caller, params: { deliveryId } }) => {
        const { shipperId } = caller;
        const asked = isUuid(deliveryId) && (await findRedeliverable(db, shipperId, deliveryId));
        if (!asked) throw notFound('This delivery');
        const { waitMs, ...webhook } = asked;
        if (waitMs > 0)
          throw tooManyRequests(
            `A delivery takes at most ${redeliveriesPerDay} redeliveries a day.`,
            waitMs / 1_000,
          );
        await deps.limits.byHand({ ...webhook, shipperId });
        if (!(await requestRedelivery(db, shipperId, deliveryId))) {
          const found = await findDelivery(db, shipperId, deliveryId);
          if (!found) throw notFound('This delivery');
          if (found.status === 'CANCELLED')
            throw conflict(`This delivery was cancelled (${found.reason ?? 'no reason given'}).`);
          throw conflict(
            (await isErased(db, caller.shipperId, deliveryId))
              ? 'The personal data of this shipment is erased.'
              : 'The webhook of this delivery is deleted.',
          );
        }
        deps.enqueueRedelivery(deliveryId);
        return { httpStatus: 202, data: { deliveryId } };
      },
    }),
  ];
}
