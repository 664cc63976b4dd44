import * as z from 'zod';
import { actorOf, audited } from '../accounts/audit.js';
import {
  redeliver,
  redelivery,
  redeliveryErrors,
  requestRedelivery,
  type RedeliveryDependencies,
} from '../catch-up/by-hand.js';
import { findReplay } from '../catch-up/replay/request-store.js';
import {
  replayAccepted,
  replayBody,
  replayErrors,
  replayExample,
  replayProgress,
  replayView,
  requestReplay,
  type ReplayRequestDependencies,
} from '../catch-up/replay/routes.js';
import { withoutQuery } from '../engine/engine.js';
import { described, idInPath, instant, uuid } from '../http/request/fields.js';
import { isUuid } from '../http/request/paging.js';
import { isoOffset, operatorRoute, type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { conflict, notFound } from '../platform/errors.js';
import { webhook } from '../webhooks/responses.js';
import { webhookParams } from '../webhooks/schema.js';
import {
  findShipperOfWebhook,
  findWebhook,
  pauseByOperator,
  resumeByOperator,
  type Webhook,
} from '../webhooks/store.js';
import { findOwner } from './support-routes.js';

export interface HandDependencies extends RedeliveryDependencies, ReplayRequestDependencies {
  db: Database;
  /** Resolves when no attempt of webhooks stopped before can start any more. */
  onStopped(): Promise<void>;
  /** Called in the transaction that makes the webhook active, before its row changes. */
  onResuming(tx: Database, shipperId: string, webhookId: string): Promise<void>;
  /** Called when deliveries that the webhook's status held may be sent. */
  onReleased(webhookId: string): void;
}

const { webhookId, name, status, disabledReason, pausedBy } = webhook.shape;

const heldWebhook = z
  .object({
    webhookId,
    shipperId: uuid('Its shipper.'),
    name,
    targetAddress: described(
      z.string(),
      'Where notifications are sent, without the query.',
      'https://example.com/hooks/parcelhook',
      { format: 'uri' },
    ),
    status,
    disabledReason,
    pausedBy,
    updatedAt: instant('When it was last changed.'),
  })
  .meta({ id: 'OperatedWebhook', description: 'The webhook.' });

const view = (shipperId: string, found: Webhook) => ({
  webhookId: found.webhookId,
  shipperId,
  name: found.name,
  targetAddress: withoutQuery(found.targetAddress),
  status: found.status,
  disabledReason: found.disabledReason,
  pausedBy: found.pausedBy,
  updatedAt: isoOffset(found.updatedAt),
});

const whyNotResumed = ({ status: now }: Webhook) =>
  now === 'DISABLED'
    ? 'No operator has paused this webhook: it is DISABLED, and its shipper can set it to ACTIVE.'
    : 'Its shipper has paused this webhook, and can set it to ACTIVE.';

/** The routes by which an operator acts for one shipper, or protects others from it. Each act is in the audit log. */
export function handRoutes(deps: HandDependencies): Route[] {
  const { db } = deps;
  const ownerOf = async (id: string): Promise<string> => {
    const owner = isUuid(id) ? await findShipperOfWebhook(db, id) : null;
    if (owner === null) throw notFound('This webhook');
    return owner;
  };
  return [
    operatorRoute({
      method: 'post',
      path: '/operator/v1/webhooks/:webhookId/pause',
      summary: 'Pause a webhook of any shipper',
      operationId: 'pauseWebhook',
      description:
        'After the response, no attempt starts. Deliveries are held, and only an operator can resume the webhook. As in any pause, its shipper can still send tests and redeliveries.',
      responses: { 200: heldWebhook },
      responseExample: { status: 'PAUSED', pausedBy: 'OPERATOR' },
      params: webhookParams,
      handle: async ({ caller, params: { webhookId: id } }) => {
        const shipperId = await ownerOf(id);
        const paused = await audited(
          db,
          actorOf(caller),
          (tx) => pauseByOperator(tx, id),
          (done) => done && { action: 'WEBHOOK_PAUSED', shipperId, webhookId: id },
        );
        if (!paused) throw notFound('This webhook');
        await deps.onStopped();
        return { data: view(shipperId, paused) };
      },
    }),
    operatorRoute({
      method: 'post',
      path: '/operator/v1/webhooks/:webhookId/resume',
      summary: 'Resume a webhook that an operator has paused',
      operationId: 'resumeWebhook',
      description:
        'The webhook gets the status that it had, or `PAUSED` if its shipper has paused it since. If that is `ACTIVE`, it gets what was held. Changes nothing if it is `ACTIVE`.',
      responses: { 200: heldWebhook },
      errors: { 409: 'Its shipper has paused it, or it is `DISABLED`.' },
      params: webhookParams,
      handle: async ({ caller, params: { webhookId: id } }) => {
        const shipperId = await ownerOf(id);
        const resumed = await audited(
          db,
          actorOf(caller),
          async (tx) => {
            await deps.onResuming(tx, shipperId, id);
            const done = await resumeByOperator(tx, id);
            if (done) return done;
            const now = await findWebhook(tx, shipperId, id);
            if (now.status !== 'ACTIVE') throw conflict(whyNotResumed(now)); // and its circuit stays as it was
            return null;
          },
          (done) => done && { action: 'WEBHOOK_RESUMED', shipperId, webhookId: id },
        );
        if (resumed?.status === 'ACTIVE') deps.onReleased(id);
        return { data: view(shipperId, resumed ?? (await findWebhook(db, shipperId, id))) };
      },
    }),
    operatorRoute({
      method: 'post',
      path: '/operator/v1/deliveries/:deliveryId/redeliver',
      summary: 'Send a delivery of any shipper again now',
      operationId: 'redeliverForShipper',
      description:
        'Does what its shipper may do, within the same limits. The shipper sees that the operator asked for it.',
      responses: { 202: redelivery },
      errors: redeliveryErrors,
      params: z.object({ deliveryId: idInPath('The delivery.') }),
      handle: async ({ caller, params: { deliveryId } }) => {
        const owner = isUuid(deliveryId) ? await findOwner(db, deliveryId) : null;
        if (!owner) throw notFound('This delivery');
        await redeliver(deps, owner.shipperId, deliveryId, () =>
          audited(
            db,
            actorOf(caller),
            (tx) => requestRedelivery(tx, owner.shipperId, deliveryId, 'OPERATOR'),
            (isAsked) => (isAsked ? { action: 'DELIVERY_REDELIVERED', ...owner } : null),
          ),
        );
        return { httpStatus: 202, data: { deliveryId } };
      },
    }),
    operatorRoute({
      method: 'post',
      path: '/operator/v1/webhooks/:webhookId/replay',
      summary: 'Send what a webhook of any shipper missed',
      operationId: 'replayForShipper',
      description:
        'Does what its shipper may do, within the same limits. The shipper sees that the operator asked for it.',
      responses: { 202: replayAccepted },
      errors: replayErrors,
      bodyExample: replayExample,
      params: webhookParams,
      body: replayBody,
      handle: async ({ caller, params: { webhookId: id }, body }) => {
        const shipperId = await ownerOf(id);
        const asked = { shipperId, webhookId: id, ...body };
        return { httpStatus: 202, data: await requestReplay(deps, asked, actorOf(caller)) };
      },
    }),
    operatorRoute({
      method: 'get',
      path: '/operator/v1/replays/:replayId',
      summary: 'Get a replay of any shipper',
      operationId: 'getReplayOfShipper',
      description: 'Shows its progress.',
      responses: { 200: replayProgress },
      params: z.object({ replayId: idInPath('The replay.') }),
      handle: async ({ params: { replayId } }) => {
        const replay = isUuid(replayId) && (await findReplay(db, replayId, null));
        if (!replay) throw notFound('This replay');
        return { data: replayView(replay) };
      },
    }),
  ];
}
