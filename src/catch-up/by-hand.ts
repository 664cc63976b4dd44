import * as z from 'zod';
import { described, idInPath } from '../http/request/fields.js';
import { isoOffset, route, type Route } from '../http/route.js';
import { isUuid } from '../http/request/paging.js';
import { conflict, notFound, tooManyRequests, unavailable } from '../platform/errors.js';
import type { Database } from '../platform/database/postgres.js';
import { oneOf } from '../platform/issues.js';
import { createGate } from '../platform/limits/gate.js';
import { webhookParams } from '../webhooks/schema.js';
import { findWebhook } from '../webhooks/store.js';
import type { WebhookLimits } from '../webhooks/limits.js';
import { deliveryId, testResult } from '../history/log/responses.js';
import { findDelivery, findLastAttempt, type Attempt } from '../history/log/store.js';
import { sampleShipment } from '../webhooks/notification-docs.js';
import { type Engine, isErasedDelivery, isInRangeOf, owedByKey } from '../engine/engine.js';

export interface RedeliveryDependencies {
  db: Database;
  engine: Pick<Engine, 'redeliver'>;
  limits: WebhookLimits;
}

export interface ByHandRouteDependencies extends RedeliveryDependencies {
  sampleState: string;
  knownStates: ReadonlySet<string>;
  engine: Pick<Engine, 'test' | 'redeliver'>;
}

export const byHandLimitText =
  'too many tests, redeliveries and replays were requested within an hour for this webhook, for your webhooks or for their destination.';

export const redelivery = z
  .object({ deliveryId })
  .meta({ description: 'Accepted: a worker sends it at once.' });

export const redeliveryErrors = {
  409: 'The delivery was cancelled, its webhook is deleted, its event was erased, or its shipper is suspended.',
  429: `The delivery was redelivered 100 times within a day, or ${byHandLimitText}`,
};

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
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description:
        'Works whatever the status of the webhook. The `tracking_id` of the sample is `TEST`. There is one attempt; the response shows it as the log does.',
      responses: { 200: testResult },
      errors: { 429: `Five of your tests are under way, or ${byHandLimitText}` },
      params: webhookParams,
      body: z.object({ state }).default({ state: deps.sampleState }),
      handle: async ({ caller, params: { webhookId }, body }) => {
        const { shipperId } = caller;
        const webhook = await findWebhook(db, shipperId, webhookId);
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
      tokenScopes: ['webhooks'],
      tag: 'Deliveries',
      description:
        'Makes one attempt outside the schedule, with the same `webhook-id`, also after a success. If it fails, the delivery stays as it was.',
      responses: { 202: redelivery },
      errors: redeliveryErrors,
      params: z.object({ deliveryId: idInPath('The delivery.') }),
      handle: async ({ caller, params: { deliveryId } }) => {
        const { shipperId } = caller;
        await redeliver(deps, shipperId, deliveryId, () => requestRedelivery(db, shipperId, deliveryId));
        return { httpStatus: 202, data: { deliveryId } };
      },
    }),
  ];
}

/** Throws ApiError if the delivery may not be redelivered. `request` is `requestRedelivery`, or includes it. */
export async function redeliver(
  { db, limits, engine }: RedeliveryDependencies,
  shipperId: string,
  deliveryId: string,
  request: () => Promise<boolean>,
): Promise<void> {
  const redeliverable = isUuid(deliveryId) && (await findRedeliverable(db, shipperId, deliveryId));
  if (!redeliverable) throw notFound('This delivery');
  const { waitMs, suspended, ...webhook } = redeliverable;
  if (suspended) throw conflict('The shipper of this delivery is suspended, so nothing is sent for it.');
  if (waitMs > 0)
    throw tooManyRequests(
      `A delivery can be redelivered at most ${redeliveriesPerDay} times a day.`,
      waitMs / 1_000,
    );
  await limits.byHand({ ...webhook, shipperId });
  if (!(await request())) {
    const found = await findDelivery(db, shipperId, deliveryId);
    if (!found) throw notFound('This delivery');
    if (found.status === 'CANCELLED')
      throw conflict(`This delivery was cancelled (${found.reason ?? 'no reason given'}).`);
    throw conflict(
      (await isErased(db, shipperId, deliveryId))
        ? 'The personal data of this shipment was erased.'
        : 'The webhook of this delivery is deleted.',
    );
  }
  engine.redeliver(deliveryId);
}

const testsPerShipper = 5;

type TestResult = { deliveryId: string; eventId: string } & Attempt;

/** Throws TOO_MANY_REQUESTS while too many tests of the shipper run. */
function createTestSender({ db, engine }: ByHandRouteDependencies) {
  const gate = createGate({ concurrency: Infinity, concurrencyPerKey: testsPerShipper });
  return async (shipperId: string, webhookId: string, state: string): Promise<TestResult> => {
    const leave = gate.enter(shipperId);
    if (!leave) throw tooManyRequests(`At most ${testsPerShipper} tests of one shipper may run at once.`, 1);
    try {
      const sample = { state, shipment: sampleShipment };
      const { deliveryId, eventId } = await engine.test(shipperId, webhookId, sample);
      const attempt = await findLastAttempt(db, shipperId, deliveryId);
      if (!attempt) throw unavailable();
      return { deliveryId, eventId, ...attempt };
    } finally {
      leave();
    }
  };
}

const redeliveriesPerDay = 100;

/** A limit beyond the attempts that a delivery can have in a day. */
const maxAttemptsRead = 500;

interface Redeliverable {
  webhookId: string;
  targetAddress: string;
  suspended: boolean;
  /** Milliseconds until another redelivery may be requested; 0: now. */
  waitMs: number;
}

async function findRedeliverable(
  db: Database,
  shipperId: string,
  deliveryId: string,
): Promise<Redeliverable | null> {
  const rows = await db.query<Redeliverable>(
    'find-redeliverable',
    `with d as materialized (
       select webhook_id, null::text as trigger, null::timestamptz as started_at from (${owedByKey('$1', '$2')}) o
       union all
       select webhook_id, trigger, started_at from deliveries where shipper_id = $1 and delivery_id = $2
     ), made as (
       select started_at from (
         select trigger, started_at from d
         union all
         (select trigger, started_at from attempts where delivery_id = $2 and shipper_id = $1
           order by number desc limit $4)
       ) a
        where trigger = 'MANUAL' and started_at > now() - interval '1 day' order by started_at desc offset $3 limit 1
     )
     select d.webhook_id as "webhookId", w.target_address as "targetAddress", w.suspended,
            coalesce((select extract(epoch from started_at + interval '1 day' - now()) * 1000 from made), 0)::float8 as "waitMs"
       from d cross join lateral (select target_address, suspended from webhooks where webhook_id = d.webhook_id limit 1) w`,
    [shipperId, deliveryId, redeliveriesPerDay - 1, maxAttemptsRead],
  );
  return rows[0] ?? null;
}

/**
 * Resolves with false if the delivery may not be redelivered or is not the shipper's. Because of the lock on the event,
 * an erasure either prevents the request or sees it. A request made before the webhook was stopped is renewed.
 */
export async function requestRedelivery(
  db: Database,
  shipperId: string,
  deliveryId: string,
  requestedBy: 'OPERATOR' | null = null,
): Promise<boolean> {
  const rows = await db.query(
    'request-redelivery',
    `with requested as (
       ${owedByKey('$1', '$2')}
       union all
       select shipper_id, delivery_id, webhook_id, event_id from deliveries
        where shipper_id = $1 and delivery_id = $2 and status <> 'CANCELLED'
     ), event as (
       select e.event_id from requested a join events e using (event_id)
        where ${isInRangeOf('e.event_id', '$2::uuid')} and e.erasure is distinct from 'DONE' for share of e
     )
     insert into redeliveries (shipper_id, delivery_id, webhook_id, requested_by)
     select a.shipper_id, a.delivery_id, a.webhook_id, $3 from requested a join webhooks w using (webhook_id)
      where w.deleted_at is null and exists (select 1 from event) limit 1
     on conflict (delivery_id) do update
       set (requested_at, requested_by) = (
         select case when redeliveries.lease_until is null then now() else redeliveries.requested_at end,
                case when redeliveries.lease_until is null then $3 else redeliveries.requested_by end)
     returning delivery_id`,
    [shipperId, deliveryId, requestedBy],
  );
  return rows.length > 0;
}

async function isErased(db: Database, shipperId: string, deliveryId: string): Promise<boolean> {
  const rows = await db.query('is-erased', `select 1 where ${isErasedDelivery('$1::uuid', '$2::uuid')}`, [
    shipperId,
    deliveryId,
  ]);
  return rows.length > 0;
}
