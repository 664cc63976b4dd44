import type { Router } from 'express';
import * as z from 'zod';
import { html, toText } from '../http/docs/pages.js';
import type { Paths, SchemaCollector } from '../http/openapi/schemas.js';
import { addressOf } from '../http/origin.js';
import { described } from '../http/request/fields.js';
import type { Database } from '../platform/database/postgres.js';
import { hashPassword, hashing, hashingKinds, preparedPassword } from './credentials.js';
import { linkPage, linkPaths, linkToken } from './link-page.js';
import { findLinkOwner, redeemPasswordLink } from './users.js';

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

const path = '/set-password';
const form = z.object({ token: linkToken, password }).meta({ id: 'PasswordChoice' });

export const passwordPage = (deps: { db: Database; mails: boolean; onPasswordSet(): void }): Router =>
  linkPage({
    path,
    title: 'Set your password',
    another: deps.mails
      ? 'Get a new one on <a href="/">the log-in page</a>.'
      : 'Ask your operator for a new one.',
    find: (tokenHash) => findLinkOwner(deps.db, tokenHash),
    about: ({ email, account }) =>
      toText(html`<p class="long">For the user ${email} of the Parcelhook account ${account}.</p>`),
    // Browsers count a character beyond U+FFFF as two: a `maxlength` of 128 would cut off a valid password.
    fields: `<div class="field">
        <label for="password">New password</label>
        <input id="password" type="password" name="password" minlength="12" maxlength="256" autocomplete="new-password" aria-describedby="hint" required autofocus>
        <p class="hint" id="hint">12 to 128 characters</p>
      </div>`,
    button: 'Set password',
    submit: async (tokenHash, { email, account }, { request, response }) => {
      const parsed = form.shape.password.safeParse((request.body as Record<string, unknown>).password);
      if (!parsed.success)
        return parsed.error.issues.map(({ message }) => `The password ${message}.`).join(' ');
      response.locals.slowByDesign = true;
      const passwordHash = await hashing.run('set-password', () => hashPassword(parsed.data), {
        kind: hashingKinds.known, // only a good link leads here
      });
      const isSet = await redeemPasswordLink(deps.db, addressOf(request), tokenHash, passwordHash);
      if (!isSet) return null;
      deps.onPasswordSet();
      return {
        title: 'Password set',
        body: toText(
          html`<p class="long">
              The password of ${email} for the Parcelhook account ${account} is set. You need three things to
              log in, here and in programs: the account key (your operator has it), this e-mail address and
              the password.
            </p>
            <p><a class="button primary" href="/">Log in</a></p>
            <p class="soft">Or see <a href="/docs">the documentation</a> first.</p>`,
        ),
      };
    },
  });

export const passwordPaths = (schemas: SchemaCollector): Paths =>
  linkPaths(schemas, {
    path,
    tag: 'Accounts',
    form,
    show: {
      operationId: 'showPasswordForm',
      summary: 'Show the page for setting a password',
      description:
        'The operator makes a link to it for a user, or the user asks for one. A link is good for one use, within 24 hours.',
    },
    submit: {
      operationId: 'setPassword',
      summary: 'Set a password',
      description: 'Submits the form of the page, and uses up the link.',
      done: 'The password is set.',
      refused: 'The password is too short or too long. The form is shown again.',
    },
  });
