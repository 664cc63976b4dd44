import * as z from 'zod';
import {
  described,
  evenIfFieldsAreWrong,
  idInPath,
  instant,
  instantInBody,
  instantOrNull,
  nextCursor,
  notBlank,
  uuid,
} from '../../http/request/fields.js';
import { isUuid, pageOf, paging } from '../../http/request/paging.js';
import { isoOffset, route, tokenScopes, type Route } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
import { conflict, invalidRequest, notFound, tooManyRequests } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import type { RateLimits } from '../../platform/limits/rate-limit.js';
import { actorOf, audited } from '../audit.js';
import { newProgramToken, sha256 } from '../credentials.js';
import { deleteProgramToken, insertProgramToken, listProgramTokens, type ProgramToken } from './store.js';

export interface ProgramRouteDependencies {
  db: Database;
  cell: string | undefined;
  limits: RateLimits;
  hasWebhook(shipperId: string, webhookId: string): Promise<boolean>;
  onLimited(): void;
  onRevoked(): void;
}

const tokensPerShipper = 50;
/** Each is a line of the audit log, and another one when it is revoked. */
const creationsPerHour = 200;

const tokenId = uuid('Identifier of the token.');
const scopesText =
  'What it may do. `orders`: place, list, track, simulate and cancel shipments. `webhooks`: everything under webhooks, deliveries and replays. `read`: read everything there is, the feed too.';
const scopes = described(z.array(z.enum(tokenScopes)), scopesText, ['orders']);

const registration = z
  .object({
    name: described(
      z.string().trim().min(1, 'must not be empty').max(100, 'must have at most 100 characters'),
      'What it is for, in your own words.',
      'Shop',
      { pattern: notBlank },
    ),
    scopes: described(
      z.array(z.enum(tokenScopes)).min(1, `must name at least one of ${tokenScopes.join(', ')}`),
      scopesText,
      ['orders'],
    ).transform((given) => tokenScopes.filter((scope) => given.includes(scope))),
    webhookId: described(
      z.uuid().toLowerCase(),
      'The only webhook that it may use, with the scopes `webhooks` and `read`. Default: every one.',
      undefined,
    ).optional(),
    expiresAt: instantInBody('When it expires. Default: never', '2030-01-15T00:00:00Z')
      .refine((end) => end.getTime() > Date.now(), 'must be in the future')
      .optional(),
  })
  .meta({ id: 'TokenRegistration' })
  .refine(
    ({ scopes, webhookId }) =>
      webhookId === undefined || !(Array.isArray(scopes) && scopes.includes('orders')),
    {
      path: ['scopes'],
      error: 'must not have orders beside webhookId: a token for one webhook places no orders',
      ...evenIfFieldsAreWrong,
    },
  );

const programToken = z
  .object({
    tokenId,
    name: described(z.string(), 'What it is for.', 'Shop'),
    scopes,
    webhookId: described(uuid('').nullable(), 'The only webhook that it may use; null: every one.', null),
    createdAt: instant('When it was made.'),
    expiresAt: instantOrNull('When it expires; null: never.'),
    lastUsedOn: described(
      z.iso.date().nullable(),
      'The last day (UTC) on which it was used; null: never.',
      '2026-11-21',
    ),
  })
  .meta({ id: 'ProgramToken', description: 'A token of a program.' });

const createdToken = programToken
  .extend({
    token: described(
      z.string().regex(/^phk_/),
      'Send it as `Authorization: Bearer <token>`. Store it; it is not shown again.',
      'phk_1x9TqLz0cW4vJdYbKe7RmUa3HsGoNp5iFtQ8XyBn2Ch6DgZ0mX4Ue',
    ),
    lastUsedOn: described(z.iso.date().nullable(), 'Null: it was never used.', null),
  })
  .meta({ id: 'CreatedToken', description: 'The token, which is shown only here.' });

const view = (token: ProgramToken) => ({
  ...token,
  createdAt: isoOffset(token.createdAt),
  expiresAt: isoOffset(token.expiresAt),
});

const common = { path: '/v1/tokens', tag: 'Accounts' } as const;

export function programRoutes(deps: ProgramRouteDependencies): Route[] {
  const { db } = deps;
  const creations = deps.limits.limit({
    name: 'token-creation',
    points: creationsPerHour,
    windowSeconds: 3_600,
  });
  const requireRoomInHour = async (shipperId: string) => {
    const { left, resetMs } = await creations.spend(shipperId);
    if (left >= 0) return;
    deps.onLimited();
    throw tooManyRequests('Too many tokens were made within an hour.', resetMs / 1_000);
  };
  return [
    route({
      ...common,
      method: 'get',
      summary: 'List the tokens of programs',
      operationId: 'listTokens',
      description: 'Also shows those that have expired. The tokens themselves are not shown.',
      responses: {
        200: z
          .object({ tokens: z.array(programToken), nextCursor })
          .meta({ description: 'Tokens in the order in which they were made.' }),
      },
      query: z.object(paging),
      handle: async ({ caller: { shipperId }, query }) => {
        const { after, rows, cut } = pageOf(`tokens of ${shipperId}`, query);
        const found = await listProgramTokens(db, shipperId, after, rows);
        const { page, nextCursor: next } = cut(found, (token) => token.tokenId);
        return { data: { tokens: page.map(view), nextCursor: next } };
      },
    }),
    route({
      ...common,
      method: 'post',
      summary: 'Make a token for a program',
      operationId: 'createToken',
      description:
        'For programs that act without a user. It belongs to the shipper: it stays valid when the user who made it is removed, or the account key changes. With it, `key` may be left out. Only a user who has logged in can make one.',
      responses: { 201: createdToken },
      errors: {
        409: `You have ${tokensPerShipper} tokens, none of which has expired.`,
        429: `Too many requests, or ${creationsPerHour} tokens were made within an hour.`,
      },
      bodyExample: { name: 'Shop', scopes: ['orders'] },
      responseExample: { scopes: ['orders'] },
      body: registration,
      handle: async ({ caller, body }) => {
        const { shipperId } = caller;
        const { webhookId = null, expiresAt = null } = body;
        if (webhookId !== null && !(await deps.hasWebhook(shipperId, webhookId)))
          throw invalidRequest([{ path: 'webhookId', message: 'is not one of your webhooks' }]);
        await requireRoomInHour(shipperId);
        const token = newProgramToken(deps.cell);
        const input = { ...body, webhookId, expiresAt, tokenId: newId(), hash: sha256(token) };
        const created = await audited(
          db,
          actorOf(caller),
          (tx) => insertProgramToken(tx, shipperId, input, tokensPerShipper),
          (done) => done && { action: 'TOKEN_CREATED', shipperId, webhookId, tokenId: done.tokenId },
        );
        if (!created)
          throw conflict(
            `A shipper may have at most ${tokensPerShipper} tokens: revoke one that is not needed.`,
          );
        return { httpStatus: 201, data: { ...view(created), token } };
      },
    }),
    route({
      ...common,
      method: 'delete',
      path: '/v1/tokens/:tokenId',
      summary: 'Revoke a token',
      operationId: 'revokeToken',
      description:
        'Every process refuses it within 10 seconds. Only a user who has logged in can revoke one.',
      responses: {
        200: z.object({ tokenId }).meta({ description: 'The token is revoked.' }),
      },
      params: z.object({ tokenId: idInPath('The token.') }),
      handle: async ({ caller, params }) => {
        const { shipperId } = caller;
        const revoked =
          isUuid(params.tokenId) &&
          (await audited(
            db,
            actorOf(caller),
            (tx) => deleteProgramToken(tx, shipperId, params.tokenId),
            (done) => (done ? { action: 'TOKEN_REVOKED', shipperId, tokenId: params.tokenId } : null),
          ));
        if (!revoked) throw notFound('This token');
        deps.onRevoked();
        return { data: { tokenId: params.tokenId } };
      },
    }),
  ];
}
