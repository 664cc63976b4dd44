import * as z from 'zod';
import { actorOf, audited } from '../accounts/audit.js';
import { isoOffset, route, type Caller, type Route } from '../http/route.js';
import { described, overlap } from '../http/request/fields.js';
import { isUuid, pageOf, paging } from '../http/request/paging.js';
import { conflict, notFound, type Detail } from '../platform/errors.js';
import { maskHeaders, newSecret } from '../engine/engine.js';
import {
  addressOf,
  sharedAddress,
  changeWebhook,
  createWebhook,
  declareWebhook,
  nameTaken,
  type WebhookDependencies,
} from './registration.js';
import * as responses from './responses.js';
import {
  fields,
  include,
  namedParams,
  webhookParams,
  webhookSchemas,
  type Include,
  type WebhookChanges,
} from './schema.js';
import {
  findSecretTimes,
  findWebhook,
  listAddresses,
  listWebhooks,
  markDeleted,
  endEarlierSecrets,
  rotateSecret,
  type Webhook,
} from './store.js';

const tooManyRegistrations =
  'Too many requests, or too many webhooks created, or moved to another host, within an hour by you or for this destination.';
const tooManyChanges = 'Too many requests, or more than 60 changes of this webhook within a minute.';

export function webhookRoutes(deps: WebhookDependencies): Route[] {
  const { db, sealer, knownInterests } = deps;
  const schemas = webhookSchemas(deps.policy, knownInterests, deps.mails);
  const namesToday = [...knownInterests].map((name) => `\`${name}\``).join(', ');
  const view = (webhook: Webhook) => ({
    ...webhook,
    targetAddress: addressOf(webhook, sealer),
    headers: maskHeaders(webhook.headers),
    createdAt: isoOffset(webhook.createdAt),
    updatedAt: isoOffset(webhook.updatedAt),
    unknownInterests: unknownAmong(webhook.interests),
  });
  const unknownAmong = (names: readonly string[]) =>
    names.filter((name) => name !== '*' && !knownInterests.has(name));
  /** Names what will be stored but may be a mistake. Call it before the change, so that its failure changes nothing. */
  const warningsFor = async (
    { shipperId, program }: Caller,
    { interests = [], targetAddress }: Pick<WebhookChanges, 'interests' | 'targetAddress'>,
    isItself: (other: Pick<Webhook, 'webhookId' | 'name'>) => boolean,
  ): Promise<Detail[]> => {
    const unknown = unknownAmong(interests).map((name) => ({
      path: `interests[${interests.indexOf(name)}]`,
      message: `${name} is not a state today; it is kept, because it may become one`,
    }));
    if (targetAddress === undefined || program?.webhookId) return unknown;
    const others = (await listAddresses(db, shipperId)).filter((one) => !isItself(one));
    return [...unknown, ...sharedAddress(others, targetAddress, sealer)];
  };
  const existing = <T>(found: T | null | false): T => {
    if (!found) throw notFound('This webhook');
    return found;
  };
  /** Only a webhook that exists counts: a caller may invent any number of ids. */
  const countChange = async (shipperId: string, webhookId: string): Promise<void> => {
    await findWebhook(db, shipperId, webhookId);
    await deps.limits.change(webhookId);
  };

  return [
    route({
      method: 'get',
      path: '/v1/webhooks',
      cost: 'costly',
      summary: 'List webhooks',
      operationId: 'listWebhooks',
      tokenScopes: ['webhooks'],
      narrows: true,
      tag: 'Webhooks',
      responses: { 200: responses.webhookList },
      query: z.object({
        ...paging,
        status: described(fields.status, 'Only those with this status.').optional(),
        include,
      }),
      handle: async ({ caller, query: { include: wanted, ...query } }) => {
        const { filter, after, rows, cut } = pageOf(`webhooks of ${caller.shipperId}`, query);
        const only = caller.program?.webhookId ?? null;
        const found = await listWebhooks(db, caller.shipperId, { ...filter, only }, after, rows);
        const { page, nextCursor } = cut(found, (webhook) => webhook.webhookId);
        const ids = page.map(({ webhookId }) => webhookId);
        const included = await readIncluded(deps, wanted, ids);
        const webhooks = page.map((webhook) => ({ ...view(webhook), ...included(webhook.webhookId) }));
        return { data: { webhooks, nextCursor } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/webhooks',
      summary: 'Create a webhook',
      operationId: 'createWebhook',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description: `The same address may be registered more than once; \`warnings\` then names the other webhook, and any interest that is not a state. The states that \`interests\` can name today: ${namesToday}.`,
      responses: { 201: responses.newWebhook },
      errors: {
        409: 'You have reached the maximum number of webhooks of a shipper, or have a webhook of this name.',
        429: tooManyRegistrations,
      },
      bodyExample: { interests: ['*'], targetAddress: 'https://example.com/hooks/parcelhook' },
      body: schemas.create,
      handle: async ({ caller, body }) => {
        const warnings = await warningsFor(caller, body, () => false);
        const created = await createWebhook(deps, caller, body);
        if (!created) throw nameTaken(body.name!);
        const { webhook, secret } = created;
        return { httpStatus: 201, data: { ...view(webhook), secret }, warnings };
      },
    }),
    route({
      method: 'get',
      path: '/v1/webhooks/:webhookId',
      summary: 'Get a webhook',
      operationId: 'getWebhook',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description: 'Also shows how its deliveries are going, and which secrets sign.',
      responses: { 200: responses.webhookWithHealth },
      params: webhookParams,
      handle: async ({ caller, params: { webhookId } }) => {
        const webhook = await findWebhook(db, caller.shipperId, webhookId);
        const [health, { rotatedAt, earlierUntil }] = await Promise.all([
          deps.health([webhookId]),
          findSecretTimes(db, webhookId),
        ]);
        const earlier = earlierUntil.map((until) => ({ signsUntil: isoOffset(until) }));
        const secrets = { rotatedAt: isoOffset(rotatedAt), earlier };
        return { data: { ...view(webhook), health: health.get(webhookId), secrets } };
      },
    }),
    route({
      method: 'patch',
      path: '/v1/webhooks/:webhookId',
      summary: 'Update a webhook',
      operationId: 'updateWebhook',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description:
        'Fields that are left out stay unchanged, and so does the value of a header that is sent back masked, as shown. But if `targetAddress` moves to another origin (scheme, host and port), each header must be given again with its value, or left out of `headers`: the new host must not get what was meant for the old one. Another `targetAddress` begins with a closed circuit, and with no failures. After the response to `PAUSED` or `DISABLED`, no attempt starts. Once it is `ACTIVE` again, the webhook gets what it missed. `ACTIVE` changes nothing if the webhook is already active: an open circuit stays open until a probe, a test or a redelivery succeeds.',
      responses: { 200: responses.webhook },
      errors: {
        409: 'The operator has paused this webhook, and only the operator can resume it.',
        429: `${tooManyRegistrations} Or more than 60 changes of this webhook within a minute.`,
      },
      bodyExample: { status: 'PAUSED' },
      responseExample: { status: 'PAUSED', updatedAt: '2026-11-21T12:00:00+00:00' },
      params: webhookParams,
      body: schemas.update,
      handle: async ({ caller, params: { webhookId }, body }, { outside }) => {
        const before = await findWebhook(db, caller.shipperId, webhookId);
        const warnings = await warningsFor(caller, body, (other) => other.webhookId === before.webhookId);
        const webhook = existing(await changeWebhook(deps, caller, before, body, outside));
        return { data: view(webhook), warnings };
      },
    }),
    route({
      method: 'put',
      path: '/v1/webhooks/by-name/:name',
      summary: 'Create or update a webhook by its name',
      operationId: 'declareWebhook',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description:
        'For the start of a program that receives: it creates the webhook of this name, or gives it these settings. The same again changes nothing. Fields that are left out stay unchanged, and so does `status`: a webhook that was paused by hand stays paused. A new webhook needs `interests` and `targetAddress`. Headers are as in an update.',
      responses: { 200: responses.webhook, 201: responses.declaredWebhook },
      errors: {
        409: 'The webhook has another secret than the one given, or you have reached the maximum number of webhooks of a shipper.',
        429: `${tooManyRegistrations} Or more than 60 changes of this webhook within a minute.`,
      },
      bodyExample: { interests: ['*'], targetAddress: 'https://example.com/hooks/parcelhook' },
      responseExample: { name: 'orders-production' },
      params: namedParams,
      body: schemas.declare,
      handle: async ({ caller, params: { name }, body }, { outside, withMisspelt }) => {
        const warnings = await warningsFor(caller, body, (other) => other.name === name);
        const declared = await declareWebhook(deps, caller, { name, ...body }, { outside, withMisspelt });
        return {
          httpStatus: declared.isNew ? 201 : 200,
          data: {
            ...view(declared.webhook),
            ...(declared.secret !== undefined && { secret: declared.secret }),
          },
          warnings,
        };
      },
    }),
    route({
      method: 'delete',
      path: '/v1/webhooks/:webhookId',
      summary: 'Delete a webhook',
      operationId: 'deleteWebhook',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description: 'Its unfinished deliveries become `CANCELLED`. After the response, no attempt starts.',
      responses: { 200: responses.deletedWebhook },
      params: webhookParams,
      handle: async ({ caller, params: { webhookId } }, { outside }) => {
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
        await outside(deps.onStopped);
        await deps.onDeleted(webhookId);
        return { data: { webhookId } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/webhooks/:webhookId/rotate-secret',
      summary: 'Make a new secret',
      operationId: 'rotateSecret',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description:
        'The old secret continues to sign for `overlap`, and each one before until the time that was promised for it; five can. Use `0s` if the secret has leaked: after the response, nothing is signed with it.',
      responses: { 200: responses.rotatedSecret },
      errors: {
        409: 'Five earlier secrets still sign. The message says until when.',
        429: tooManyChanges,
      },
      params: webhookParams,
      body: z
        .object({ overlap: overlap('How long the old secret continues to sign, up to 30d.') })
        .prefault({}),
      handle: async ({ caller, params: { webhookId }, body }, { outside }) => {
        const { shipperId } = caller;
        await countChange(shipperId, webhookId);
        const secret = newSecret();
        const { validUntil, fullUntil } = existing(
          await audited(
            db,
            actorOf(caller),
            (tx) =>
              rotateSecret(tx, shipperId, webhookId, sealer.sealSecret(webhookId, secret), body.overlap),
            (done) => (done?.validUntil ? { action: 'WEBHOOK_SECRET_ROTATED', shipperId, webhookId } : null),
          ),
        );
        if (fullUntil)
          throw conflict(
            `Five earlier secrets still sign, the first of them until ${isoOffset(fullUntil)}. Rotate after that, or end them at once: DELETE /v1/webhooks/${webhookId}/secrets/previous.`,
          );
        if (body.overlap === 0) await outside(deps.onStopped); // earlier claims sign with the old secret
        return { data: { webhookId, secret, previousSecretValidUntil: isoOffset(validUntil) } };
      },
    }),
    route({
      method: 'delete',
      path: '/v1/webhooks/:webhookId/secrets/previous',
      summary: 'End the earlier secrets',
      operationId: 'endEarlierSecrets',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description:
        'The secrets before the current one sign no longer, whatever was promised for them. After the response, nothing is signed with them.',
      responses: { 200: responses.endedSecrets },
      errors: { 429: tooManyChanges },
      params: webhookParams,
      handle: async ({ caller, params: { webhookId } }, { outside }) => {
        const { shipperId } = caller;
        await countChange(shipperId, webhookId);
        const ended = existing(
          await audited(
            db,
            actorOf(caller),
            async (tx) => {
              const count = await endEarlierSecrets(tx, shipperId, webhookId);
              return count === null ? null : { count };
            },
            (done) => (done?.count ? { action: 'WEBHOOK_SECRETS_ENDED', shipperId, webhookId } : null),
          ),
        ).count;
        await outside(deps.onStopped); // earlier claims sign with them
        return { data: { webhookId, ended } };
      },
    }),
  ];
}

export const egressRoute = (
  addresses: readonly string[],
  certificate: { subject: string; fingerprint256: string; validTo: Date } | null,
): Route =>
  route({
    method: 'get',
    path: '/v1/egress',
    summary: 'Where notifications come from',
    operationId: 'getEgress',
    tokenScopes: ['webhooks'],
    narrows: true,
    tag: 'Webhooks',
    description: 'For the firewall in front of your receiver. A signature proves more than an address.',
    responses: { 200: responses.egress },
    handle: () =>
      Promise.resolve({
        data: {
          addresses,
          ...(certificate && { certificate: { ...certificate, validTo: isoOffset(certificate.validTo) } }),
        },
      }),
  });

/** Reads what `include` asks for, of all webhooks at once. The returned function gives what to add to one webhook. */
async function readIncluded(
  sources: Record<Include, (webhookIds: string[]) => Promise<Map<string, object>>>,
  wanted: Set<Include> | undefined,
  webhookIds: string[],
): Promise<(webhookId: string) => Partial<Record<Include, object>>> {
  const read = await Promise.all(
    [...(wanted ?? [])].map(async (name) => [name, await sources[name](webhookIds)] as const),
  );
  return (webhookId) => Object.fromEntries(read.map(([name, byId]) => [name, byId.get(webhookId)!]));
}
