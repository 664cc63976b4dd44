import { createHmac } from 'node:crypto';
import * as z from 'zod';
import { addressOf, networkOf } from '../../http/origin.js';
import { described } from '../../http/request/fields.js';
import { route, type Route } from '../../http/route.js';
import type { ComposeMail, MailContent } from '../../mail/send.js';
import { addressMail, oweMail, type OwedMail } from '../../mail/store.js';
import type { Database } from '../../platform/database/postgres.js';
import { createGate } from '../../platform/limits/gate.js';
import type { RateLimits } from '../../platform/limits/rate-limit.js';
import { audit } from '../audit.js';
import { sha256 } from '../credentials.js';
import { keyMatches } from '../shippers.js';
import { insertLink, lockUser, type Links } from '../users.js';
import { addressBlock } from './limits.js';

const maxPerUserAndHour = 3;
const maxPerAddressAndHour = 20;
/** Anybody may cause one. */
const maxOwed = 10_000;
/** The endpoint is public: it must not starve other database work. */
const writes = { concurrency: 2, maxWaiting: 100, maxWaitMs: 1_000 };

interface Asked extends Record<string, string> {
  accountKeyHash: string;
  email: string;
  network: string;
}

const body = z
  .object({
    key: described(
      z.string().min(1, 'must not be empty').max(255),
      'Account key.',
      'ak_AAECAwQFBgcICQoLDA0ODxAREhM',
    ),
    email: described(
      z.string().trim().regex(z.regexes.email, 'must be an e-mail address').max(254),
      "The user's e-mail address.",
      'you@example.com',
    ),
  })
  .meta({ id: 'PasswordLinkRequest' });

const accepted = z.object({}).meta({
  description: 'The same whether there is such a user or not.',
});

/**
 * A request is one row, the same for a user that exists and for one that does not: who it is for is looked up when the
 * mail is sent, so that neither the response nor its time reveals anything.
 */
export function passwordLinkRoute(deps: {
  db: Database;
  limits: RateLimits;
  /** Of keyed hashes: addresses must not be readable in Redis. */
  secret: string;
  mails: boolean;
}): Route {
  const { db, secret } = deps;
  const addresses = deps.limits.limit({
    name: 'password-link',
    points: maxPerAddressAndHour,
    windowSeconds: 3_600,
  });
  const gate = createGate(writes);
  return route({
    method: 'post',
    path: '/v1/password-link',
    summary: 'Ask for a link to set a password',
    operationId: 'requestPasswordLink',
    tag: 'Accounts',
    description:
      'For a user who has forgotten the password: if there is such a user, and the service sends e-mails (`SMTP_URL`), the user gets a link that is good for one use, within 24 hours. Beyond three requests an hour for a user and 20 from one address, none is sent. The response is always the same.',
    responses: { 202: accepted },
    auth: 'none',
    body,
    handle: async ({ body: { key, email } }, { request }) => {
      if (deps.mails) {
        const block = createHmac('sha256', secret)
          .update(addressBlock(request.ip ?? ''))
          .digest('base64url');
        const { left } = await addresses.spend(block);
        const parameters: Asked = {
          accountKeyHash: sha256(key).toString('hex'),
          email: email.toLowerCase(),
          network: networkOf(addressOf(request) ?? undefined),
        };
        if (left >= 0)
          await gate.run(block, () => oweMail(db, { kind: 'PASSWORD_LINK', parameters }, maxOwed));
      }
      return { httpStatus: 202, data: {} };
    },
  });
}

/**
 * Makes a new link for each attempt, so that none is stored readably; each is good for 24 hours, and using one voids the
 * others.
 */
export const composePasswordMail =
  (links: Links): ComposeMail =>
  (db, mail) =>
    db.transaction(async (tx) => {
      const asked = mail.userId === null ? (mail.parameters as Asked) : null;
      const userId = asked ? await findUserId(tx, asked) : mail.userId;
      const user = userId && (await lockUser(tx, userId));
      if (!user) return null;
      if (asked) {
        if (!(await addressMail(tx, mail, userId, maxPerUserAndHour))) return null;
        const actor = { kind: 'UNKNOWN', name: null, address: asked.network } as const;
        await audit(tx, actor, { action: 'PASSWORD_LINK_CREATED', shipperId: user.shipperId, userId });
      }
      return contentOf(mail, user, await insertLink(tx, links, userId));
    });

async function findUserId(tx: Database, { accountKeyHash, email }: Asked): Promise<string | null> {
  const rows = await tx.query<{ userId: string }>(
    'find-user-asked-for',
    `select user_id as "userId" from users
      where email = $2 and shipper_id = (select shipper_id from shippers where ${keyMatches('$1')})`,
    [Buffer.from(accountKeyHash, 'hex'), email],
  );
  return rows[0]?.userId ?? null;
}

function contentOf(
  { kind }: OwedMail,
  { email, account }: { email: string; account: string },
  url: string,
): MailContent {
  const isNew = kind === 'WELCOME';
  return {
    to: email,
    subject: isNew ? 'Your Parcelhook account' : 'Set a new Parcelhook password',
    paragraphs: [
      isNew
        ? `You can log in to the Parcelhook account ${account} with this e-mail address, once you have set a password.`
        : `Somebody has asked for a link to set a new password of ${email} for the Parcelhook account ${account}.`,
    ],
    action: { label: 'Set the password', url },
    remarks: [
      'The link is good for one use, within 24 hours.',
      isNew
        ? 'You get another one on the log-in page, under “Forgotten your password?”. Your operator gives you the account key.'
        : 'If it was not you, do nothing: the password stays as it is.',
    ],
  };
}
