import { z } from 'zod';
import { isoOffset } from '../http/envelope.js';
import { isUuid } from '../http/paging.js';
import { route, type Route } from '../http/route.js';
import { conflict, notFound } from '../platform/errors.js';
import type { Database } from '../platform/postgres.js';
import { findDelivery } from './log-store.js';
import { requestManual } from './manual-store.js';
import type { TestResult } from './test-send.js';

export interface ManualDependencies {
  db: Database;
  /** What a test sends unless the caller names a state. */
  sampleState: string;
  knownStates: ReadonlySet<string>;
  sendTest(shipperId: string, webhookId: string, state: string): Promise<TestResult>;
  /** Makes a worker send a manual attempt at once. */
  enqueueManual(deliveryId: string): void;
}

/** Sending by hand: tests and redeliveries (contract, section 4). */
export function manualRoutes(deps: ManualDependencies): Route[] {
  const { db, knownStates } = deps;
  const state = z
    .string()
    .refine((name) => knownStates.has(name), `must be one of ${[...knownStates].join(', ')}`)
    .default(deps.sampleState);
  return [
    route({
      method: 'post',
      path: '/v1/webhooks/:webhookId/test',
      summary: 'Send a sample notification now',
      params: z.object({ webhookId: z.string() }),
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
      params: z.object({ deliveryId: z.string() }),
      handle: async ({ caller, params: { deliveryId } }) => {
        if (!isUuid(deliveryId)) throw notFound('This delivery');
        if (!(await requestManual(db, caller.shipperId, deliveryId))) {
          const found = await findDelivery(db, caller.shipperId, deliveryId);
          if (!found) throw notFound('This delivery');
          throw conflict(
            found.status === 'CANCELLED'
              ? `This delivery was cancelled (${found.reason ?? 'no reason given'}).`
              : 'The webhook of this delivery is deleted.',
          );
        }
        deps.enqueueManual(deliveryId);
        return { httpStatus: 202, data: { deliveryId } };
      },
    }),
  ];
}
