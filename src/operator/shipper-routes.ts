import * as z from 'zod';
import { actorOf } from '../accounts/audit/audit.js';
import { listShippers, type Shipper } from '../accounts/shipper-store.js';
import {
  registerShipper,
  removeShipper,
  rotateAccountKey,
  updateShipper,
  type ShippersWebhooks,
} from '../accounts/shippers.js';
import { isoOffset } from '../http/envelope.js';
import {
  described,
  idInPath,
  notBlank,
  oneOfFields,
  overlap,
  instant,
  instantOrNull,
  nextCursor,
  uuid,
} from '../http/request/fields.js';
import { isUuid, pageOf, paging } from '../http/request/paging.js';
import { route, type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { notFound } from '../platform/errors.js';

export interface ShipperDependencies {
  db: Database;
  webhooks: ShippersWebhooks;
  /** Resolves when no attempt of webhooks stopped before can start any more. */
  onStopped(): Promise<void>;
  onResumed(shipperId: string): Promise<void>;
  onChanged(): void;
}

const shipperStatuses = ['ACTIVE', 'SUSPENDED', 'REMOVED'] as const;

const shipperId = uuid('Identifier of the shipper.');

const listedShipper = z
  .object({
    shipperId,
    name: described(z.string(), 'Its name.', 'Acme'),
    status: described(
      z.enum(shipperStatuses),
      '`SUSPENDED`: its requests are refused and its deliveries held until it is resumed. `REMOVED`: for good.',
    ),
    createdAt: instant('When it was registered.', '2026-11-02T09:00:00+00:00'),
    previousKeyValidUntil: instantOrNull('When the previous account key expires; null if there is none.'),
  })
  .meta({ id: 'ShipperAccount', description: 'The shipper.' });

const registeredShipper = z
  .object({
    shipperId: uuid('Identifier of the shipper.'),
    accountKey: described(
      z.string(),
      'Account key of all its users; shown only here.',
      'ak_AAECAwQFBgcICQoLDA0ODxAREhM',
    ),
  })
  .meta({ id: 'Shipper', description: 'The shipper with its account key, which is shown only here.' });

const shipperList = z
  .object({ shippers: z.array(listedShipper), nextCursor })
  .meta({ description: 'Shippers, in order of registration.' });

const removedShipper = z.object({ shipperId }).meta({
  description:
    'The shipper is removed: no request is accepted and no attempt starts from now on. Its data is deleted step by step.',
});

const rotatedKey = z
  .object({
    accountKey: described(
      z.string(),
      'The new account key of all its users; shown only here.',
      'ak_FBUWFxgZGhscHR4fICEiIyQlJic',
    ),
    previousKeyValidUntil: instant('When the previous key expires.', '2026-11-22T12:00:00+00:00'),
  })
  .meta({ id: 'RotatedAccountKey', description: 'The new account key, which is shown only here.' });

const params = z.object({ shipperId: idInPath('The shipper.') });
const name = described(z.string().trim().min(1, 'must not be empty').max(1_000), 'Its name.', 'Acme', {
  pattern: notBlank,
});
const status = described(
  z.enum(['ACTIVE', 'SUSPENDED'], 'must be ACTIVE or SUSPENDED'),
  '`SUSPENDED`: its requests get 403 and its deliveries are held. `ACTIVE`: what was held is sent.',
);
const changes = z
  .object({ name: name.optional(), status: status.optional() })
  .meta(oneOfFields(['name', 'status']))
  .refine((given) => Object.values(given).some((value) => value !== undefined), 'must have name or status');

const view = (shipper: Shipper) => ({
  ...shipper,
  createdAt: isoOffset(shipper.createdAt),
  previousKeyValidUntil: isoOffset(shipper.previousKeyValidUntil),
});

const known = (shipperId: string): string => {
  if (!isUuid(shipperId)) throw notFound('This shipper');
  return shipperId;
};

export function shipperRoutes(deps: ShipperDependencies): Route[] {
  const { db, webhooks } = deps;
  return [
    route({
      method: 'post',
      path: '/operator/v1/shippers',
      summary: 'Register a shipper',
      operationId: 'createShipper',
      tag: 'Operator',
      responses: { 201: registeredShipper },
      auth: 'operator',
      body: z.object({
        name: described(z.string().trim().min(1, 'must not be empty').max(1_000), 'Its name.', 'Acme', {
          pattern: notBlank,
        }),
      }),
      handle: async ({ caller, body }) => ({
        httpStatus: 201,
        data: await registerShipper(db, actorOf(caller), body.name),
      }),
    }),
    route({
      method: 'get',
      path: '/operator/v1/shippers',
      summary: 'List shippers',
      operationId: 'listShippers',
      tag: 'Operator',
      responses: { 200: shipperList },
      auth: 'operator',
      query: z.object({
        ...paging,
        status: described(z.enum(shipperStatuses), 'Only shippers with this status.').optional(),
      }),
      handle: async ({ query }) => {
        const { filter, after, rows, cut } = pageOf('shippers', query);
        const shippers = await listShippers(db, filter.status, after, rows);
        const { page, nextCursor } = cut(shippers, (shipper) => shipper.shipperId);
        return { data: { shippers: page.map(view), nextCursor } };
      },
    }),
    route({
      method: 'patch',
      path: '/operator/v1/shippers/:shipperId',
      summary: 'Rename, suspend or resume a shipper',
      operationId: 'updateShipper',
      tag: 'Operator',
      description:
        'After the response to `SUSPENDED`, no attempt starts, and every process refuses requests within 10 seconds. When the shipper is `ACTIVE` again, its webhooks get what was held.',
      responses: { 200: listedShipper },
      auth: 'operator',
      params,
      body: changes,
      bodyExample: { status: 'SUSPENDED' },
      responseExample: { status: 'SUSPENDED' },
      handle: async ({ caller, params: { shipperId }, body }) => {
        const { shipper, statusChanged } = await updateShipper(
          db,
          webhooks,
          actorOf(caller),
          known(shipperId),
          body,
        );
        deps.onChanged();
        if (body.status === 'SUSPENDED')
          await deps.onStopped(); // even if another request has just suspended it
        else if (statusChanged) await deps.onResumed(shipperId);
        return { data: view(shipper) };
      },
    }),
    route({
      method: 'delete',
      path: '/operator/v1/shippers/:shipperId',
      summary: 'Remove a shipper',
      operationId: 'removeShipper',
      tag: 'Operator',
      description:
        'After the response, no attempt starts, and every process refuses requests within 10 seconds. What is still owed to its webhooks becomes `CANCELLED`. This cannot be undone.',
      responses: { 202: removedShipper },
      auth: 'operator',
      params,
      handle: async ({ caller, params: { shipperId } }) => {
        await removeShipper(db, webhooks, actorOf(caller), known(shipperId));
        deps.onChanged();
        await deps.onStopped();
        return { httpStatus: 202, data: { shipperId } };
      },
    }),
    route({
      method: 'post',
      path: '/operator/v1/shippers/:shipperId/rotate-key',
      summary: 'Make a new account key',
      operationId: 'rotateAccountKey',
      tag: 'Operator',
      description:
        'The previous key and the tokens issued under it stay valid for `overlap`; a second rotation within that time ends the first key. Use `0s` if the key has leaked.',
      responses: { 200: rotatedKey },
      auth: 'operator',
      params,
      body: z.object({ overlap: overlap('How long the previous key stays valid, up to 30d.') }).prefault({}),
      handle: async ({ caller, params: { shipperId }, body }) => {
        const rotated = await rotateAccountKey(db, actorOf(caller), known(shipperId), body.overlap);
        deps.onChanged();
        return {
          data: { ...rotated, previousKeyValidUntil: isoOffset(rotated.previousKeyValidUntil) },
        };
      },
    }),
  ];
}
