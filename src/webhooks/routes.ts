import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import { isoOffset } from '../http/envelope.js';
import { cutPage, isUuid, paging } from '../http/paging.js';
import { route, type Route } from '../http/route.js';
import { conflict, notFound } from '../platform/errors.js';
import type { Database } from '../platform/postgres.js';
import type { DestinationPolicy } from './destination.js';
import { webhookSchemas } from './schema.js';
import { newSecret, type SecretBox } from './secrets.js';
import {
  findWebhook,
  insertWebhook,
  listWebhooks,
  markDeleted,
  rotateSecret,
  updateWebhook,
  type Webhook,
} from './store.js';

export interface WebhookDependencies {
  db: Database;
  secrets: SecretBox;
  policy: DestinationPolicy;
  webhooksPerShipper: number;
  /** Names a webhook may take interest in today; others are kept for a later catalogue. */
  knownInterests: ReadonlySet<string>;
  /** Resolves when no send to a webhook that was stopped can start any more. */
  onStopped(webhookId: string): Promise<void>;
  /** Cancels what a deleted webhook still had to get. */
  onDeleted(webhookId: string): Promise<void>;
  /** Sends on what a webhook missed while it was not active. */
  onResumed(webhookId: string): Promise<void>;
  /** How its deliveries have been doing. */
  health(webhookId: string): Promise<object>;
}

const webhookParams = z.object({ webhookId: z.string().toLowerCase() });

export function webhookRoutes(deps: WebhookDependencies): Route[] {
  const { db, secrets, knownInterests } = deps;
  const schemas = webhookSchemas(deps.policy);
  const view = (webhook: Webhook) => ({
    ...webhook,
    createdAt: isoOffset(webhook.createdAt),
    updatedAt: isoOffset(webhook.updatedAt),
    unknownInterests: webhook.interests.filter((name) => name !== '*' && !knownInterests.has(name)),
  });
  const existing = <T>(found: T | null | false): T => {
    if (!found) throw notFound('This webhook');
    return found;
  };

  return [
    route({
      method: 'get',
      path: '/v1/webhooks',
      summary: 'List webhooks',
      query: z.object(paging),
      handle: async ({ caller, query: { limit, cursor } }) => {
        const rows = await listWebhooks(db, caller.shipperId, cursor, limit + 1);
        const { page, nextCursor } = cutPage(rows, limit, (webhook) => webhook.webhookId);
        return { data: { webhooks: page.map(view), nextCursor } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/webhooks',
      summary: 'Create a webhook',
      body: schemas.create,
      handle: async ({ caller, body }) => {
        const secret = newSecret();
        const input = { ...body, webhookId: uuid(), sealedSecret: secrets.seal(secret) };
        const created = await insertWebhook(db, caller.shipperId, input, deps.webhooksPerShipper);
        if (!created) throw conflict(`A shipper may have at most ${deps.webhooksPerShipper} webhooks.`);
        return { httpStatus: 201, data: { ...view(created), secret } };
      },
    }),
    route({
      method: 'get',
      path: '/v1/webhooks/:webhookId',
      summary: 'Get a webhook',
      params: webhookParams,
      handle: async ({ caller, params: { webhookId } }) => {
        const webhook = existing(isUuid(webhookId) && (await findWebhook(db, caller.shipperId, webhookId)));
        return { data: { ...view(webhook), health: await deps.health(webhookId) } };
      },
    }),
    route({
      method: 'patch',
      path: '/v1/webhooks/:webhookId',
      summary: 'Update a webhook',
      params: webhookParams,
      body: schemas.update,
      handle: async ({ caller, params: { webhookId }, body }) => {
        const updated = existing(
          isUuid(webhookId) && (await updateWebhook(db, caller.shipperId, webhookId, body)),
        );
        if (body.status === 'ACTIVE') await deps.onResumed(webhookId);
        else if (body.status) await deps.onStopped(webhookId);
        return { data: view(updated) };
      },
    }),
    route({
      method: 'delete',
      path: '/v1/webhooks/:webhookId',
      summary: 'Delete a webhook',
      params: webhookParams,
      handle: async ({ caller, params: { webhookId } }) => {
        existing(isUuid(webhookId) && (await markDeleted(db, caller.shipperId, webhookId)));
        await deps.onStopped(webhookId);
        await deps.onDeleted(webhookId);
        return { data: { webhookId } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/webhooks/:webhookId/rotate-secret',
      summary: 'Make a new secret; the old one signs along for 24 hours',
      params: webhookParams,
      handle: async ({ caller, params: { webhookId } }) => {
        const secret = newSecret();
        const validUntil = existing(
          isUuid(webhookId) && (await rotateSecret(db, caller.shipperId, webhookId, secrets.seal(secret))),
        );
        return { data: { webhookId, secret, previousSecretValidUntil: isoOffset(validUntil) } };
      },
    }),
  ];
}
