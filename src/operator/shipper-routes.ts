import * as z from 'zod';
import { actorOf } from '../accounts/audit/audit.js';
import {
  removeShipper,
  rotateAccountKey,
  updateShipper,
  type ShippersWebhooks,
} from '../accounts/shippers.js';
import { listShippers, type Shipper } from '../accounts/shipper-store.js';
import { described } from '../http/described.js';
import { isoOffset } from '../http/envelope.js';
import { idInPath, notBlank, oneOfFields, overlap } from '../http/request/fields.js';
import { cutPage, isUuid, paging } from '../http/request/paging.js';
import { route, type Route } from '../http/route.js';
import { notFound } from '../platform/errors.js';
import type { Database } from '../platform/database/postgres.js';
import * as answers from './account-answers.js';

export interface ShipperDependencies {
  db: Database;
  webhooks: ShippersWebhooks;
  /** Resolves when no send to webhooks that were stopped just now can start any more. */
  onStopped(): Promise<void>;
  onResumed(shipperId: string): Promise<void>;
  /** What this process knows of who may call is out of date. */
  onChanged(): void;
}

const params = z.object({ shipperId: idInPath('The shipper.') });
const name = described(z.string().trim().min(1, 'must not be empty').max(1_000), 'Its name.', 'Acme Books', {
  pattern: notBlank,
});
const status = described(
  z.enum(['ACTIVE', 'SUSPENDED'], 'must be ACTIVE or SUSPENDED'),
  '`SUSPENDED`: its requests are 403 and its webhooks are held. `ACTIVE`: what was held goes out.',
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

/** Shippers after their registration (contract, section 6). */
export function shipperRoutes(deps: ShipperDependencies): Route[] {
  const { db, webhooks } = deps;
  return [
    route({
      method: 'get',
      path: '/operator/v1/shippers',
      summary: 'List shippers',
      operationId: 'listShippers',
      tag: 'Operator',
      answers: { 200: answers.shipperList },
      auth: 'operator',
      query: z.object({
        ...paging,
        status: described(
          z.enum(answers.shipperStatuses, `must be one of ${answers.shipperStatuses.join(', ')}`),
          'Only those that are this.',
        ).optional(),
      }),
      handle: async ({ query: { limit, cursor, status } }) => {
        const rows = await listShippers(db, status, cursor, limit + 1);
        const { page, nextCursor } = cutPage(rows, limit, (shipper) => shipper.shipperId);
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
        'After the answer to `SUSPENDED` no send starts; requests are refused within 10 seconds by every process. Set to `ACTIVE` again, its webhooks get what was held.',
      answers: { 200: answers.listedShipper },
      auth: 'operator',
      params,
      body: changes,
      bodyExample: { status: 'SUSPENDED' },
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
          await deps.onStopped(); // also where another request has just done it
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
        'After the answer no send starts; requests are refused within 10 seconds by every process. What it is still owed becomes `CANCELLED`. It cannot be undone.',
      answers: { 202: answers.removedShipper },
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
        'The key before is good for `overlap`, and so are the tokens that were got with it; a second rotation within that time ends the first key. `0s` is for a key that has leaked.',
      answers: { 200: answers.rotatedKey },
      auth: 'operator',
      params,
      body: z.object({ overlap: overlap('How long the key before is good, up to 30d.') }).prefault({}),
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
