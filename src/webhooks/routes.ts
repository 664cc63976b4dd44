import { z } from 'zod';
import { isoOffset } from '../http/envelope.js';
import { idInPath } from '../http/fields.js';
import { cutPage, isUuid, paging } from '../http/paging.js';
import { route, type Route } from '../http/route.js';
import { conflict, notFound } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import type { Database } from '../platform/postgres.js';
import * as answers from './answers.js';
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
  /** Resolves when no send to a webhook that was stopped just now can start any more. */
  onStopped(): Promise<void>;
  /** Cancels what a deleted webhook still had to get. */
  onDeleted(webhookId: string): Promise<void>;
  /** Sends on what a webhook missed while it was not active. */
  onResuming(tx: Database, shipperId: string, webhookId: string): Promise<void>;
  onResumed(webhookId: string): void;
  /** Its deliveries go one at a time from now on, or do so no more. */
  onReordered(webhookId: string): Promise<void>;
  /** How its deliveries have been doing. */
  health(webhookId: string): Promise<object>;
}

const webhookParams = z.object({ webhookId: idInPath('The webhook.').toLowerCase() });

export function webhookRoutes(deps: WebhookDependencies): Route[] {
  const { db, secrets, knownInterests } = deps;
  const schemas = webhookSchemas(deps.policy);
  const namesToday = [...knownInterests].map((name) => `\`${name}\``).join(', ');
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
      operationId: 'listWebhooks',
      tag: 'Webhooks',
      answers: { 200: answers.webhookList },
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
      operationId: 'createWebhook',
      tag: 'Webhooks',
      description: `The same address may be registered more than once. What interests may name today: ${namesToday}.`,
      answers: { 201: answers.newWebhook },
      errors: { 409: 'You have as many webhooks as one shipper may have.' },
      bodyExample: { interests: ['*'], targetAddress: 'https://example.com/hooks/parcelhook' },
      body: schemas.create,
      handle: async ({ caller, body }) => {
        const secret = newSecret();
        const input = { ...body, webhookId: newId(), sealedSecret: secrets.seal(secret) };
        const created = await insertWebhook(db, caller.shipperId, input, deps.webhooksPerShipper);
        if (!created) throw conflict(`A shipper may have at most ${deps.webhooksPerShipper} webhooks.`);
        return { httpStatus: 201, data: { ...view(created), secret } };
      },
    }),
    route({
      method: 'get',
      path: '/v1/webhooks/:webhookId',
      summary: 'Get a webhook',
      operationId: 'getWebhook',
      tag: 'Webhooks',
      description: 'Shows how its deliveries have been doing, too.',
      answers: { 200: answers.webhookWithHealth },
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
      operationId: 'updateWebhook',
      tag: 'Webhooks',
      description:
        'Merges: what is not named stays. After the answer to `PAUSED` or `DISABLED` no send starts; set to `ACTIVE` again, the webhook gets what it missed.',
      answers: { 200: answers.webhook },
      bodyExample: { status: 'PAUSED' },
      params: webhookParams,
      body: schemas.update,
      handle: async ({ caller, params: { webhookId }, body }) => {
        const update = (tx: Database) => updateWebhook(tx, caller.shipperId, webhookId, body);
        const resume = async (tx: Database) => {
          await deps.onResuming(tx, caller.shipperId, webhookId);
          return update(tx);
        };
        const updated = existing(
          isUuid(webhookId) && (await (body.status === 'ACTIVE' ? db.transaction(resume) : update(db))),
        );
        if (body.ordering !== undefined) await deps.onReordered(webhookId);
        if (body.status === 'ACTIVE') deps.onResumed(webhookId);
        else if (body.status) await deps.onStopped();
        return { data: view(updated) };
      },
    }),
    route({
      method: 'delete',
      path: '/v1/webhooks/:webhookId',
      summary: 'Delete a webhook',
      operationId: 'deleteWebhook',
      tag: 'Webhooks',
      description: 'Its unfinished deliveries become `CANCELLED`. After the answer no send starts.',
      answers: { 200: answers.deletedWebhook },
      params: webhookParams,
      handle: async ({ caller, params: { webhookId } }) => {
        existing(isUuid(webhookId) && (await markDeleted(db, caller.shipperId, webhookId)));
        await deps.onStopped();
        await deps.onDeleted(webhookId);
        return { data: { webhookId } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/webhooks/:webhookId/rotate-secret',
      summary: 'Make a new secret',
      operationId: 'rotateSecret',
      tag: 'Webhooks',
      description:
        'The old one signs along for 24 hours; a second rotation within that time ends the first secret.',
      answers: { 200: answers.rotatedSecret },
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
