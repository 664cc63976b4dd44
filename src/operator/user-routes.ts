import * as z from 'zod';
import { actorOf } from '../accounts/audit/audit.js';
import { shipperExists } from '../accounts/shipper-store.js';
import { password } from '../accounts/password-page.js';
import { listUsers } from '../accounts/user-store.js';
import { newPasswordLink, registerUser, removeUser, signOut } from '../accounts/users.js';
import { isoOffset } from '../http/envelope.js';
import { idInPath, instant, nextCursor, uuid, described } from '../http/request/fields.js';
import { isUuid, pageOf, paging } from '../http/request/paging.js';
import { route, type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { notFound } from '../platform/errors.js';

const userId = uuid('Identifier of the user.');

const userList = z
  .object({
    users: z.array(
      z
        .object({
          userId,
          email: described(z.string(), 'E-mail address, used to log in.', 'you@example.com'),
          hasPassword: described(z.boolean(), 'False until a password is set.', true),
          createdAt: instant('When the user was registered.', '2026-11-02T09:05:00+00:00'),
        })
        .meta({ id: 'UserAccount', description: 'A user.' }),
    ),
    nextCursor,
  })
  .meta({ description: 'Users of the shipper, in order of registration.' });

const setPasswordUrl = described(
  z.string(),
  'Give it to the user. It is good for one use, within 24 hours.',
  'https://parcelhook.example.com/set-password?token=Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms',
  { format: 'uri' },
);

const registeredUser = z
  .object({ userId: uuid('Identifier of the user.'), setPasswordUrl })
  .meta({ id: 'User', description: 'The user with a link to set a password.' });

const passwordLink = z.object({ setPasswordUrl }).meta({ description: 'The link.' });

const endedUser = z
  .object({ userId })
  .meta({ description: 'Done: every token of the user is refused within 10 seconds.' });

const params = z.object({ userId: idInPath('The user.') });

const known = (userId: string): string => {
  if (!isUuid(userId)) throw notFound('This user');
  return userId;
};

/** Users of shippers. `onChanged` clears what this process has cached of them. */
export function userRoutes({
  db,
  publicUrl,
  onChanged,
}: {
  db: Database;
  publicUrl(): string;
  onChanged(): void;
}): Route[] {
  return [
    route({
      method: 'post',
      path: '/operator/v1/shippers/:shipperId/users',
      summary: 'Register a user of a shipper',
      operationId: 'createUser',
      tag: 'Operator',
      description: 'The user has the given password, or sets one at the link.',
      responses: { 201: registeredUser },
      errors: { 409: 'The shipper already has a user with this e-mail address.' },
      slowByDesign: true,
      auth: 'operator',
      params: z.object({ shipperId: idInPath('The shipper.') }),
      body: z.object({
        email: described(
          z.string().regex(z.regexes.email, 'must be an e-mail address').max(254),
          'E-mail address.',
          'you@example.com',
        ),
        password: password.optional(),
      }),
      handle: async ({ caller, params: { shipperId }, body }) => {
        if (!isUuid(shipperId)) throw notFound('This shipper');
        const user = { shipperId, ...body };
        return { httpStatus: 201, data: await registerUser(db, publicUrl(), actorOf(caller), user) };
      },
    }),
    route({
      method: 'post',
      path: '/operator/v1/users/:userId/password-link',
      summary: 'Make a link for a user to set a password',
      operationId: 'createPasswordLink',
      tag: 'Operator',
      description:
        'The link is good for one use, within 24 hours. Earlier links stay good until one of them is used.',
      responses: { 201: passwordLink },
      auth: 'operator',
      params: z.object({ userId: idInPath('The user.') }),
      handle: async ({ caller, params: { userId } }) => {
        if (!isUuid(userId)) throw notFound('This user');
        const setPasswordUrl = await newPasswordLink(db, publicUrl(), actorOf(caller), userId);
        return { httpStatus: 201, data: { setPasswordUrl } };
      },
    }),
    route({
      method: 'get',
      path: '/operator/v1/shippers/:shipperId/users',
      summary: 'List the users of a shipper',
      operationId: 'listUsers',
      tag: 'Operator',
      responses: { 200: userList },
      auth: 'operator',
      params: z.object({ shipperId: idInPath('The shipper.') }),
      query: z.object(paging),
      handle: async ({ params: { shipperId }, query }) => {
        if (!isUuid(shipperId) || !(await shipperExists(db, shipperId))) throw notFound('This shipper');
        const { after, rows, cut } = pageOf(`users of ${shipperId}`, query);
        const { page, nextCursor } = cut(await listUsers(db, shipperId, after, rows), (user) => user.userId);
        const users = page.map((user) => ({ ...user, createdAt: isoOffset(user.createdAt) }));
        return { data: { users, nextCursor } };
      },
    }),
    route({
      method: 'delete',
      path: '/operator/v1/users/:userId',
      summary: 'Remove a user',
      operationId: 'removeUser',
      tag: 'Operator',
      description: 'Every process refuses tokens and password links of the user within 10 seconds.',
      responses: { 200: endedUser },
      auth: 'operator',
      params,
      handle: async ({ caller, params: { userId } }) => {
        await removeUser(db, actorOf(caller), known(userId));
        onChanged();
        return { data: { userId } };
      },
    }),
    route({
      method: 'post',
      path: '/operator/v1/users/:userId/sign-out',
      summary: 'Sign a user out',
      operationId: 'signOutUser',
      tag: 'Operator',
      description:
        'Every process refuses the tokens of the user within 10 seconds; the password stays valid.',
      responses: { 200: endedUser },
      auth: 'operator',
      params,
      handle: async ({ caller, params: { userId } }) => {
        await signOut(db, actorOf(caller), known(userId));
        onChanged();
        return { data: { userId } };
      },
    }),
  ];
}
