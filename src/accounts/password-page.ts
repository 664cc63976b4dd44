import express, { Router, type ErrorRequestHandler, type Request } from 'express';
import * as z from 'zod';
import { addressOf } from '../http/origin.js';
import { html as markup, toText } from '../http/docs/pages.js';
import { parametersOf } from '../http/openapi/document.js';
import { pageResponse, text } from '../http/openapi/page-operations.js';
import { exampleOf, type SchemaCollector, type Paths } from '../http/openapi/schemas.js';
import { described } from '../http/request/fields.js';
import { smallPage } from '../http/pages.js';
import type { Database } from '../platform/database/postgres.js';
import { methodNotAllowed } from '../platform/errors.js';
import { createGate } from '../platform/limits/gate.js';
import {
  hashPassword,
  hashing,
  hashingKinds,
  linkTokenPattern,
  preparedPassword,
  sha256,
} from './credentials.js';
import { findLinkOwner, type LinkOwner, redeemPasswordLink } from './users.js';

export const password = described(
  z
    .string()
    .overwrite(preparedPassword)
    .min(12, 'must have at least 12 characters')
    .max(128, 'must have at most 128 characters')
    .refine(
      // A form that was sent in another charset has U+FFFD where its characters were.
      (text) => !/[\0\uFFFD]/.test(text) && text.isWellFormed(),
      'must not contain U+0000, U+FFFD or unpaired surrogates',
    ),
  'New password.',
  'correct horse battery staple',
);

export const linkToken = described(
  z.string().regex(linkTokenPattern),
  'Token of the link.',
  'Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms',
);
const form = z.object({ token: linkToken, password }).meta({ id: 'PasswordChoice' });

/** The pages of links are public: lookups must not starve other database work. */
export const linkLookups = { concurrency: 2, maxWaiting: 100, maxWaitMs: 1_000 };

export function passwordPage(deps: { db: Database; mails: boolean; onPasswordSet(): void }): Router {
  const { db, onPasswordSet } = deps;
  const linkVoid = `<p>This link has already been used or has expired. ${deps.mails ? 'Get a new one on <a href="/">the log-in page</a>.' : 'Ask your operator for a new one.'}</p>`;
  const router = Router();
  const lookupGate = createGate(linkLookups);
  const ownerOf = (token: string, request: Request): Promise<LinkOwner | null> =>
    lookupGate.run(addressOf(request) ?? '', () => findLinkOwner(db, sha256(token)));
  router.get('/set-password', async (request, response) => {
    const token = linkToken.safeParse(request.query.token);
    const owner = token.success && (await ownerOf(token.data, request));
    if (!owner) return void response.status(404).send(smallPage('Link not valid', linkVoid));
    response
      .set('Cache-Control', 'no-store')
      .send(smallPage('Set your password', passwordForm(token.data, owner)));
  });
  router.post(
    '/set-password',
    express.urlencoded({ extended: false, limit: 4_096 }),
    express.json({ limit: 4_096 }),
    async (request, response) => {
      const token = linkToken.safeParse((request.body as Record<string, unknown> | undefined)?.token);
      const owner = token.success && (await ownerOf(token.data, request));
      if (!owner) return void response.status(404).send(smallPage('Link not valid', linkVoid));
      const parsed = form.safeParse(request.body);
      if (!parsed.success) {
        const problem = parsed.error.issues.map(({ message }) => `The password ${message}.`).join(' ');
        return void response
          .status(400)
          .send(smallPage('Set your password', passwordForm(token.data, owner, problem)));
      }
      const { password: chosen } = parsed.data;
      response.locals.slowByDesign = true;
      const passwordHash = await hashing.run('set-password', () => hashPassword(chosen), {
        kind: hashingKinds.known, // only a good link leads here
      });
      const redeemed = await redeemPasswordLink(db, addressOf(request), sha256(token.data), passwordHash);
      if (redeemed) onPasswordSet();
      if (!redeemed) return void response.status(404).send(smallPage('Link not valid', linkVoid));
      response.set('Cache-Control', 'no-store').send(smallPage('Password set', passwordIsSet(owner)));
    },
  );
  router.use('/set-password', unreadable);
  router.all('/set-password', () => {
    throw methodNotAllowed('GET, HEAD, POST');
  });
  return router;
}

export const notRead = smallPage('Form not read', '<p>The form could not be read. Open the link again.</p>');

/** A body that is not a form gets a page in response, not JSON. */
export const unreadable: ErrorRequestHandler = (error: { status?: unknown }, _request, response, next) => {
  const { status } = error; // a number where Express could not read the body
  if (typeof status !== 'number' || status < 400 || status >= 500 || status === 413) return void next(error);
  response.status(400).send(notRead);
};

/**
 * The token consists of [A-Za-z0-9_-], so it needs no escaping. Browsers count a character beyond U+FFFF as two: a
 * `maxlength` of 128 would cut off a valid password.
 */
const passwordForm = (token: string, { email, account }: LinkOwner, problem = '') => `
  ${toText(markup`<p>For the user ${email} of the Parcelhook account ${account}.</p>`)}
  ${problem && `<p role="alert">${problem}</p>`}
  <form method="post" action="/set-password">
    <input type="hidden" name="token" value="${token}">
    <label>New password (12 to 128 characters)
      <input type="password" name="password" minlength="12" maxlength="256" autocomplete="new-password" required autofocus>
    </label>
    <button>Set password</button>
  </form>`;

const passwordIsSet = ({ email, account }: LinkOwner) =>
  toText(markup`<p>The password of ${email} for the Parcelhook account ${account} is set.
    You need three things to log in, here and in programs: the account key (your operator has it), this e-mail address
    and the password.</p>
    <p><a href="/">Log in now</a>, or see <a href="/docs">the documentation</a>.</p>`);

const html = text('text/html');
const unavailable = { $ref: '#/components/responses/Unavailable' };
const tooManyRequests = { $ref: '#/components/responses/TooManyRequests' };
const common = { tags: ['Accounts'] as [string], security: [] };

export function passwordPaths(schemas: SchemaCollector): Paths {
  const schema = schemas.toJson(form, 'body');
  const body = { schema, example: exampleOf(schema, schemas.components) };
  return {
    '/set-password': {
      get: {
        ...common,
        operationId: 'showPasswordForm',
        summary: 'Show the page for setting a password',
        description:
          'The operator makes a link to it for a user, or the user asks for one. A link is good for one use, within 24 hours.',
        parameters: parametersOf(z.object({ token: linkToken }), 'query', schemas),
        responses: {
          200: pageResponse('The form.', html),
          404: pageResponse('The link has already been used or has expired.', html),
          429: tooManyRequests,
          503: unavailable,
        },
      },
      post: {
        ...common,
        operationId: 'setPassword',
        summary: 'Set a password',
        description: 'Submits the form of the page, and uses up the link.',
        requestBody: {
          required: true,
          content: { 'application/x-www-form-urlencoded': body, 'application/json': body },
        },
        responses: {
          200: pageResponse('The password is set.', html),
          400: pageResponse('The password is too short or too long. The form is shown again.', html),
          404: pageResponse('The link has already been used or has expired.', html),
          413: {
            $ref: '#/components/responses/PayloadTooLarge',
            description: 'The body is larger than 4 KiB.',
          },
          429: tooManyRequests,
          503: unavailable,
        },
      },
    },
  };
}
