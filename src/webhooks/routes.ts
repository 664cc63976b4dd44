import * as z from 'zod';
import { actorOf, audited } from '../accounts/audit/audit.js';
import { isoOffset } from '../http/envelope.js';
import { idInPath, overlap } from '../http/request/fields.js';
import { cutPage, isUuid, paging } from '../http/request/paging.js';
import { route, type Route } from '../http/route.js';
import { conflict, notFound } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import type { Database } from '../platform/database/postgres.js';
import * as answers from './answers.js';
import { maskHeaders, withoutQuery, type AtRest } from './at-rest/at-rest.js';
import { sealChanges } from './at-rest/changes.js';
import type { DestinationPolicy } from './destination/destination.js';
import { include, parts } from './include.js';
import type { WebhookLimits } from './limits.js';
import { webhookSchemas } from './schema.js';
import { newSecret } from './at-rest/secrets.js';
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
  sealed: AtRest;
  policy: DestinationPolicy;
  webhooksPerShipper: number;
  limits: WebhookLimits;
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
  /** How the deliveries of webhooks have been doing, by their ids. */
  health(webhookIds: string[]): Promise<Map<string, object>>;
  /** Their attempts of the last day. */
  stats(webhookIds: string[]): Promise<Map<string, object>>;
}

const webhookParams = z.object({ webhookId: idInPath('The webhook.') });

export function webhookRoutes(deps: WebhookDependencies): Route[] {
  const { db, sealed, knownInterests } = deps;
  const schemas = webhookSchemas(deps.policy);
  const namesToday = [...knownInterests].map((name) => `\`${name}\``).join(', ');
  const view = (webhook: Webhook) => ({
    ...webhook,
    targetAddress: addressOf(webhook, sealed),
    headers: maskHeaders(webhook.headers),
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
      cost: 'dear',
      summary: 'List webhooks',
      operationId: 'listWebhooks',
      tag: 'Webhooks',
      answers: { 200: answers.webhookList },
      query: z.object({ ...paging, include }),
      handle: async ({ caller, query: { limit, cursor, include: wanted } }) => {
        const rows = await listWebhooks(db, caller.shipperId, cursor, limit + 1);
        const { page, nextCursor } = cutPage(rows, limit, (webhook) => webhook.webhookId);
        const partsOf = await parts(
          deps,
          wanted,
          page.map(({ webhookId }) => webhookId),
        );
        const webhooks = page.map((webhook) => ({ ...view(webhook), ...partsOf(webhook.webhookId) }));
        return { data: { webhooks, nextCursor } };
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
      errors: {
        409: 'You have as many webhooks as one shipper may have.',
        429: 'Too many requests, or too many webhooks created within an hour by you or for this destination.',
      },
      bodyExample: { interests: ['*'], targetAddress: 'https://example.com/hooks/parcelhook' },
      body: schemas.create,
      handle: async ({ caller, body }) => {
        await deps.limits.creation({ shipperId: caller.shipperId, targetAddress: body.targetAddress });
        const secret = newSecret();
        const webhookId = newId();
        const input = {
          ...body,
          webhookId,
          targetAddress: sealed.sealAddress(webhookId, body.targetAddress),
          headers: sealed.sealHeaders(webhookId, body.headers ?? {}),
          sealedSecret: sealed.sealSecret(webhookId, secret),
        };
        const { shipperId } = caller;
        const created = await audited(
          db,
          actorOf(caller),
          (tx) => insertWebhook(tx, shipperId, input, deps.webhooksPerShipper),
          (webhook) => webhook && { action: 'WEBHOOK_CREATED', shipperId, webhookId: webhook.webhookId },
        );
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
        const health = (await deps.health([webhookId])).get(webhookId);
        return { data: { ...view(webhook), health } };
      },
    }),
    route({
      method: 'patch',
      path: '/v1/webhooks/:webhookId',
      summary: 'Update a webhook',
      operationId: 'updateWebhook',
      tag: 'Webhooks',
      description:
        'Merges: what is not named stays, and so does the value of a header that is sent back as it is shown, masked. After the answer to `PAUSED` or `DISABLED` no send starts; set to `ACTIVE` again, the webhook gets what it missed. `ACTIVE` changes nothing if the webhook is already active: an open circuit stays open until a probe, a test or a redelivery succeeds.',
      answers: { 200: answers.webhook },
      bodyExample: { status: 'PAUSED' },
      params: webhookParams,
      body: schemas.update,
      handle: async ({ caller, params: { webhookId }, body }) => {
        const { shipperId } = caller;
        const update = async (tx: Database) => {
          if (body.status === 'ACTIVE') await deps.onResuming(tx, shipperId, webhookId);
          const changes = await sealChanges({ tx, sealed }, shipperId, webhookId, body);
          return updateWebhook(tx, shipperId, webhookId, changes);
        };
        const fields = Object.keys(body);
        const updated = existing(
          isUuid(webhookId) &&
            (await audited(
              db,
              actorOf(caller),
              update,
              (webhook) => webhook && { action: 'WEBHOOK_UPDATED', shipperId, webhookId, fields },
            )),
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
        const { shipperId } = caller;
        existing(
          isUuid(webhookId) &&
            (await audited(
              db,
              actorOf(caller),
              (tx) => markDeleted(tx, shipperId, webhookId),
              (deleted) => (deleted ? { action: 'WEBHOOK_DELETED', shipperId, webhookId } : null),
            )),
        );
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
        'The old one signs along for `overlap`; a second rotation within that time ends the first secret. `0s` is for a secret that has leaked: after the answer nothing is signed with it.',
      answers: { 200: answers.rotatedSecret },
      params: webhookParams,
      body: z.object({ overlap: overlap('How long the old secret signs along, up to 30d.') }).prefault({}),
      handle: async ({ caller, params: { webhookId }, body }) => {
        const { shipperId } = caller;
        const secret = newSecret();
        const validUntil = existing(
          isUuid(webhookId) &&
            (await audited(
              db,
              actorOf(caller),
              (tx) =>
                rotateSecret(tx, shipperId, webhookId, sealed.sealSecret(webhookId, secret), body.overlap),
              (until) => until && { action: 'WEBHOOK_SECRET_ROTATED', shipperId, webhookId },
            )),
        );
        if (body.overlap === 0) await deps.onStopped(); // what was claimed before knows the old one only
        return { data: { webhookId, secret, previousSecretValidUntil: isoOffset(validUntil) } };
      },
    }),
  ];
}

/** Its owner sees the whole address; where no key opens it, what is readable. */
function addressOf({ webhookId, targetAddress }: Webhook, sealed: AtRest): string {
  try {
    return sealed.openAddress(webhookId, targetAddress);
  } catch {
    return withoutQuery(targetAddress);
  }
}
