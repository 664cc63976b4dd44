import { z } from 'zod';
import { described } from '../../http/described.js';
import { isoOffset } from '../../http/envelope.js';
import { idInPath } from '../../http/fields.js';
import { isUuid } from '../../http/paging.js';
import { route, type Route } from '../../http/route.js';
import { conflict, notFound } from '../../platform/errors.js';
import type { Database } from '../../platform/postgres.js';
import { redelivery, testResult } from '../log/answers.js';
import { findDelivery } from '../log/store.js';
import { requestRedelivery } from './store.js';
import type { TestResult } from './test.js';

export interface OnDemandDependencies {
  db: Database;
  /** What a test sends unless the caller names a state. */
  sampleState: string;
  knownStates: ReadonlySet<string>;
  sendTest(shipperId: string, webhookId: string, state: string): Promise<TestResult>;
  /** Makes a worker send it at once. */
  enqueueRedelivery(deliveryId: string): void;
}

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
      summary: 'Send a sample notification now',
      operationId: 'testWebhook',
      tag: 'Webhooks',
      description:
        'Whatever the status of the webhook. The sample has `TEST` as `tracking_id`; it is tried once, and the attempt is answered as it is in the log.',
      answers: { 200: testResult },
      errors: { 429: 'Five tests of yours are under way.' },
      params: z.object({ webhookId: idInPath('The webhook.') }),
      body: z.object({ state }).default({ state: deps.sampleState }),
      handle: async ({ caller, params: { webhookId }, body }) => {
        if (!isUuid(webhookId)) throw notFound('This webhook');
        const attempt = await deps.sendTest(caller.shipperId, webhookId, body.state);
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
      errors: { 409: 'The delivery was cancelled, or its webhook is deleted.' },
      params: z.object({ deliveryId: idInPath('The delivery.') }),
      handle: async ({ caller, params: { deliveryId } }) => {
        if (!isUuid(deliveryId)) throw notFound('This delivery');
        if (!(await requestRedelivery(db, caller.shipperId, deliveryId))) {
          const found = await findDelivery(db, caller.shipperId, deliveryId);
          if (!found) throw notFound('This delivery');
          throw conflict(
            found.status === 'CANCELLED'
              ? `This delivery was cancelled (${found.reason ?? 'no reason given'}).`
              : 'The webhook of this delivery is deleted.',
          );
        }
        deps.enqueueRedelivery(deliveryId);
        return { httpStatus: 202, data: { deliveryId } };
      },
    }),
  ];
}
