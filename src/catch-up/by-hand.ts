import * as z from 'zod';
import { described, idInPath } from '../http/request/fields.js';
import { isoOffset } from '../http/envelope.js';
import { isUuid } from '../http/request/paging.js';
import { route, type Route } from '../http/route.js';
import { conflict, notFound, tooManyRequests, unavailable } from '../platform/errors.js';
import type { Database } from '../platform/database/postgres.js';
import { oneOf } from '../platform/issues.js';
import { findWebhook } from '../webhooks/store.js';
import type { WebhookLimits } from '../webhooks/limits.js';
import { deliveryId, testResult } from '../history/log/responses.js';
import { findDelivery, findLastAttempt, type Attempt } from '../history/log/store.js';
import { sampleShipment } from '../webhooks/notification-docs.js';
import type { Engine } from '../engine/engine.js';
import { findRedeliverable, isErased, redeliveriesPerDay, requestRedelivery } from './by-hand-store.js';

export interface ByHandRouteDependencies {
  db: Database;
  sampleState: string;
  knownStates: ReadonlySet<string>;
  engine: Pick<Engine, 'test' | 'redeliver'>;
  limits: WebhookLimits;
}

export const byHandLimitText =
  'too many tests, redeliveries and replays were requested within an hour for this webhook, for your webhooks or for their destination.';

const redelivery = z.object({ deliveryId }).meta({ description: 'Accepted: a worker sends it at once.' });

/** Tests and redeliveries. */
export function byHandRoutes(deps: ByHandRouteDependencies): Route[] {
  const { db, knownStates } = deps;
  const sendTest = createTestSender(deps);
  const state = described(
    z.string().refine((name) => knownStates.has(name), {
      error: ({ input }) => oneOf([...knownStates], input),
    }),
    'State of the sample.',
    deps.sampleState,
    { enum: [...knownStates] },
  ).default(deps.sampleState);
  return [
    route({
      method: 'post',
      path: '/v1/webhooks/:webhookId/test',
      ungated: true, // it waits for the receiver
      slowByDesign: true,
      summary: 'Send a sample notification now',
      operationId: 'testWebhook',
      tag: 'Webhooks',
      description:
        'Works whatever the status of the webhook. The `tracking_id` of the sample is `TEST`. There is one attempt; the response shows it as the log does.',
      responses: { 200: testResult },
      errors: { 429: `Five of your tests are under way, or ${byHandLimitText}` },
      params: z.object({ webhookId: idInPath('The webhook.') }),
      body: z.object({ state }).default({ state: deps.sampleState }),
      handle: async ({ caller, params: { webhookId }, body }) => {
        const { shipperId } = caller;
        const webhook = isUuid(webhookId) && (await findWebhook(db, shipperId, webhookId));
        if (!webhook) throw notFound('This webhook');
        await deps.limits.byHand({ ...webhook, shipperId });
        const attempt = await sendTest(shipperId, webhookId, body.state);
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
        'Makes one attempt outside the schedule, with the same `webhook-id`, also after a success. If it fails, the delivery stays as it was.',
      responses: { 202: redelivery },
      errors: {
        409: 'The delivery was cancelled, its webhook is deleted, or its event was erased.',
        429: `The delivery was redelivered ${redeliveriesPerDay} times within a day, or ${byHandLimitText}`,
      },
      params: z.object({ deliveryId: idInPath('The delivery.') }),
      handle: async ({ caller, params: { deliveryId } }) => {
        const { shipperId } = caller;
        const redeliverable = isUuid(deliveryId) && (await findRedeliverable(db, shipperId, deliveryId));
        if (!redeliverable) throw notFound('This delivery');
        const { waitMs, ...webhook } = redeliverable;
        if (waitMs > 0)
          throw tooManyRequests(
            `A delivery can be redelivered at most ${redeliveriesPerDay} times a day.`,
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
              ? 'The personal data of this shipment was erased.'
              : 'The webhook of this delivery is deleted.',
          );
        }
        deps.engine.redeliver(deliveryId);
        return { httpStatus: 202, data: { deliveryId } };
      },
    }),
  ];
}

const testsPerShipper = 5;

type TestResult = { deliveryId: string; eventId: string } & Attempt;

/** Throws TOO_MANY_REQUESTS while too many tests of the shipper run. */
function createTestSender({ db, engine }: ByHandRouteDependencies) {
  const underWay = new Map<string, number>();

  const test = async (shipperId: string, webhookId: string, state: string): Promise<TestResult> => {
    const sample = { state, shipment: sampleShipment };
    const { deliveryId, eventId } = await engine.test(shipperId, webhookId, sample);
    const attempt = await findLastAttempt(db, shipperId, deliveryId);
    if (!attempt) throw unavailable();
    return { deliveryId, eventId, ...attempt };
  };

  return async (shipperId: string, webhookId: string, state: string): Promise<TestResult> => {
    const others = underWay.get(shipperId) ?? 0;
    if (others >= testsPerShipper)
      throw tooManyRequests(`At most ${testsPerShipper} tests of one shipper may run at once.`, 1);
    underWay.set(shipperId, others + 1);
    try {
      return await test(shipperId, webhookId, state);
    } finally {
      const left = (underWay.get(shipperId) ?? 1) - 1;
      if (left > 0) underWay.set(shipperId, left);
      else underWay.delete(shipperId);
    }
  };
}
