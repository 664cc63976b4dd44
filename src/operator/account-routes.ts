import * as z from 'zod';
import { actorOf } from '../accounts/audit.js';
import {
  listShippers,
  type Shipper,
  registerShipper,
  removeShipper,
  rotateAccountKey,
  updateShipper,
  type ShippersWebhooks,
  shipperExists,
} from '../accounts/shippers.js';
import { isoOffset, operatorRoute, type Route } from '../http/route.js';
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
import type { Database } from '../platform/database/postgres.js';
import { notFound } from '../platform/errors.js';
import { password } from '../accounts/password-page.js';
import { userId, userList, viewUser } from '../accounts/responses.js';
import { listUsers, newPasswordLink, registerUser, removeUser, signOut } from '../accounts/users.js';

export interface ShipperDependencies {
  db: Database;
  cell: string | undefined;
  webhooks: ShippersWebhooks;
  /** Resolves when no attempt of webhooks stopped before can start any more. */
  onStopped(): Promise<void>;
  onResumed(shipperId: string): Promise<void>;
  onChanged(): void;
}

const shipperStatuses = ['ACTIVE', 'SUSPENDED', 'REMOVED'] as const;

const shipperId = uuid('Identifier of the shipper.');

const limitOrNull = (description: string, max: number) =>
  described(z.int().min(1).max(max).nullable(), description, null);

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
    rateLimit: limitOrNull(
      'Its API requests per second, averaged over 10 s; null: `API_RATE_LIMIT`.',
      1_000_000,
    ),
    maxConcurrency: limitOrNull('Its attempts in flight in each worker; null: no limit of its own.', 10_000),
  })
  .meta({ id: 'ShipperAccount', description: 'The shipper.' });

const registeredShipper = z
  .object({
    shipperId,
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
  .object({
    name: name.optional(),
    status: status.optional(),
    rateLimit: listedShipper.shape.rateLimit.optional(),
    maxConcurrency: listedShipper.shape.maxConcurrency.optional(),
  })
  .meta(oneOfFields(['name', 'status', 'rateLimit', 'maxConcurrency']))
  .refine(
    (given) => Object.values(given).some((value) => value !== undefined),
    'must have at least one of name, status, rateLimit, maxConcurrency',
  );

const view = (shipper: Shipper) => ({
  ...shipper,
  createdAt: isoOffset(shipper.createdAt),
  previousKeyValidUntil: isoOffset(shipper.previousKeyValidUntil),
});

const known = (id: string, what: 'This shipper' | 'This user'): string => {
  if (!isUuid(id)) throw notFound(what);
  return id;
};

export function shipperRoutes(deps: ShipperDependencies): Route[] {
  const { db, webhooks } = deps;
  return [
    operatorRoute({
      method: 'post',
      path: '/operator/v1/shippers',
      summary: 'Register a shipper',
      operationId: 'createShipper',
      responses: { 201: registeredShipper },
      body: z.object({ name }),
      handle: async ({ caller, body }) => ({
        httpStatus: 201,
        data: await registerShipper(db, actorOf(caller), body.name, deps.cell),
      }),
    }),
    operatorRoute({
      method: 'get',
      path: '/operator/v1/shippers',
      summary: 'List shippers',
      operationId: 'listShippers',
      responses: { 200: shipperList },
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
    operatorRoute({
      method: 'patch',
      path: '/operator/v1/shippers/:shipperId',
      summary: 'Rename, suspend, resume or limit a shipper',
      operationId: 'updateShipper',
      description:
        'After the response to `SUSPENDED`, no attempt starts, and every process refuses requests within 10 seconds. When the shipper is `ACTIVE` again, its webhooks get what was held. Limits take effect within 10 seconds in every process; what `maxConcurrency` holds back waits and delays no other shipper. Tests of webhooks do not count.',
      responses: { 200: listedShipper },
      params,
      body: changes,
      bodyExample: { status: 'SUSPENDED' },
      responseExample: { status: 'SUSPENDED' },
      handle: async ({ caller, params: { shipperId }, body }) => {
        const { shipper, statusChanged } = await updateShipper(
          db,
          webhooks,
          actorOf(caller),
          known(shipperId, 'This shipper'),
          body,
        );
        deps.onChanged();
        if (body.status === 'SUSPENDED')
          await deps.onStopped(); // even if another request has just suspended it
        else if (statusChanged) await deps.onResumed(shipperId);
        return { data: view(shipper) };
      },
    }),
    operatorRoute({
      method: 'delete',
      path: '/operator/v1/shippers/:shipperId',
      summary: 'Remove a shipper',
      operationId: 'removeShipper',
      description:
        'After the response, no attempt starts, and every process refuses requests within 10 seconds. What is still owed to its webhooks becomes `CANCELLED`. This cannot be undone.',
      responses: { 202: removedShipper },
      params,
      handle: async ({ caller, params: { shipperId } }) => {
        await removeShipper(db, webhooks, actorOf(caller), known(shipperId, 'This shipper'));
        deps.onChanged();
        await deps.onStopped();
        return { httpStatus: 202, data: { shipperId } };
      },
    }),
    operatorRoute({
      method: 'post',
      path: '/operator/v1/shippers/:shipperId/rotate-key',
      summary: 'Make a new account key',
      operationId: 'rotateAccountKey',
      description:
        'The previous key and the tokens issued under it stay valid for `overlap`; a second rotation within that time ends the first key. Use `0s` if the key has leaked.',
      responses: { 200: rotatedKey },
      params,
      body: z.object({ overlap: overlap('How long the previous key stays valid, up to 30d.') }).prefault({}),
      handle: async ({ caller, params: { shipperId }, body }) => {
        const rotated = await rotateAccountKey(
          db,
          actorOf(caller),
          known(shipperId, 'This shipper'),
          body.overlap,
          deps.cell,
        );
        deps.onChanged();
        return {
          data: { ...rotated, previousKeyValidUntil: isoOffset(rotated.previousKeyValidUntil) },
        };
      },
    }),
  ];
}

const setPasswordUrl = described(
  z.string(),
  'Give it to the user. It is good for one use, within 24 hours.',
  'https://parcelhook.example.com/set-password?token=Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms',
  { format: 'uri' },
);

const registeredUser = z
  .object({ userId, setPasswordUrl })
  .meta({ id: 'User', description: 'The user with a link to set a password.' });

const passwordLink = z.object({ setPasswordUrl }).meta({ description: 'The link.' });

const endedUser = z
  .object({ userId })
  .meta({ description: 'Done: every token of the user is refused within 10 seconds.' });

const userParams = z.object({ userId: idInPath('The user.') });

/** `onChanged` clears what this process has cached of them. */
export function userRoutes({
  db,
  publicUrl,
  cell,
  mails,
  onChanged,
}: {
  db: Database;
  publicUrl(): string;
  cell: string | undefined;
  /** New users get their link by e-mail, too. */
  mails: boolean;
  onChanged(): void;
}): Route[] {
  return [
    operatorRoute({
      method: 'post',
      path: '/operator/v1/shippers/:shipperId/users',
      summary: 'Register a user of a shipper',
      operationId: 'createUser',
      description:
        'The user has the given password, or sets one at the link. If the service sends e-mails (`SMTP_URL`), the user gets a link by e-mail as well.',
      responses: { 201: registeredUser },
      errors: { 409: 'The shipper already has a user with this e-mail address.' },
      slowByDesign: true,
      params,
      body: z.object({
        email: described(
          z.string().regex(z.regexes.email, 'must be an e-mail address').max(254),
          'E-mail address.',
          'you@example.com',
        ),
        password: password.optional(),
      }),
      handle: async ({ caller, params: { shipperId }, body }) => {
        const user = { shipperId: known(shipperId, 'This shipper'), ...body };
        return {
          httpStatus: 201,
          data: await registerUser(db, { publicUrl: publicUrl(), cell, mails }, actorOf(caller), user),
        };
      },
    }),
    operatorRoute({
      method: 'post',
      path: '/operator/v1/users/:userId/password-link',
      summary: 'Make a link for a user to set a password',
      operationId: 'createPasswordLink',
      description:
        'The link is good for one use, within 24 hours. Earlier links stay good until one of them is used.',
      responses: { 201: passwordLink },
      params: userParams,
      handle: async ({ caller, params: { userId } }) => {
        const user = known(userId, 'This user');
        const setPasswordUrl = await newPasswordLink(
          db,
          { publicUrl: publicUrl(), cell },
          actorOf(caller),
          user,
        );
        return { httpStatus: 201, data: { setPasswordUrl } };
      },
    }),
    operatorRoute({
      method: 'get',
      path: '/operator/v1/shippers/:shipperId/users',
      summary: 'List the users of a shipper',
      operationId: 'listUsers',
      responses: { 200: userList },
      params,
      query: z.object(paging),
      handle: async ({ params: { shipperId }, query }) => {
        if (!isUuid(shipperId) || !(await shipperExists(db, shipperId))) throw notFound('This shipper');
        const { after, rows, cut } = pageOf(`users of ${shipperId}`, query);
        const { page, nextCursor } = cut(await listUsers(db, shipperId, after, rows), (user) => user.userId);
        return { data: { users: page.map(viewUser), nextCursor } };
      },
    }),
    operatorRoute({
      method: 'delete',
      path: '/operator/v1/users/:userId',
      summary: 'Remove a user',
      operationId: 'removeUser',
      description: 'Every process refuses tokens and password links of the user within 10 seconds.',
      responses: { 200: endedUser },
      params: userParams,
      handle: async ({ caller, params: { userId } }) => {
        await removeUser(db, actorOf(caller), known(userId, 'This user'));
        onChanged();
        return { data: { userId } };
      },
    }),
    operatorRoute({
      method: 'post',
      path: '/operator/v1/users/:userId/sign-out',
      summary: 'Sign a user out',
      operationId: 'signOutUser',
      description:
        'Every process refuses the tokens of the user within 10 seconds; the password stays valid.',
      responses: { 200: endedUser },
      params: userParams,
      handle: async ({ caller, params: { userId } }) => {
        await signOut(db, actorOf(caller), known(userId, 'This user'));
        onChanged();
        return { data: { userId } };
      },
    }),
  ];
}
