import { newLink, type Links } from '../../accounts/users.js';
import type { ComposeMail } from '../../mail/send.js';
import { oweMail } from '../../mail/store.js';
import type { Database } from '../../platform/database/postgres.js';
import { tooManyRequests } from '../../platform/errors.js';
import type { Router } from 'express';
import * as z from 'zod';
import { linkPage, linkPaths, linkToken } from '../../accounts/link-page.js';
import { html, toText } from '../../http/docs/pages.js';
import type { Paths, SchemaCollector } from '../../http/openapi/schemas.js';

/** Whether shipper `s` may have mails sent to `email`: a user's address, or one that was confirmed. */
export const mayBeMailed = (s: string, email: string) => `(
  exists (select from users where shipper_id = ${s} and email = lower(${email}))
  or exists (select from notify_addresses
              where shipper_id = ${s} and email = lower(${email}) and confirmed_at is not null))`;

const maxAskedPerDay = 20;
const daySeconds = 86_400;

/**
 * Owes a mail with a link to confirm the address, unless it may be mailed already, or was asked within the hour. Call it
 * in the transaction that gives a webhook this address.
 */
export async function askToConfirm(tx: Database, shipperId: string, email: string): Promise<void> {
  const [row] = await tx.query<{ known: boolean; asked: number }>(
    'look-up-notify-address',
    `select ${mayBeMailed('$1::uuid', '$2::text')}
            or exists (select from notify_addresses where shipper_id = $1 and email = lower($2)
                          and asked_at between now() - interval '1 hour' and now()) as known,
            (select count(*)::int from notify_addresses
              where shipper_id = $1 and asked_at > now() - interval '1 day') as asked`,
    [shipperId, email],
  );
  if (row!.known) return;
  if (row!.asked >= maxAskedPerDay)
    throw tooManyRequests(`At most ${maxAskedPerDay} new addresses a day are asked to confirm.`, daySeconds);
  await tx.query(
    'ask-notify-address',
    `insert into notify_addresses (shipper_id, email) values ($1, lower($2))
     on conflict (shipper_id, email) do update set asked_at = now()`,
    [shipperId, email],
  );
  await oweMail(tx, { kind: 'CONFIRM_ADDRESS', shipperId, parameters: { email: email.toLowerCase() } });
}

/** As with a password, each attempt makes a new link. It names nothing that the shipper wrote: the address is a stranger's. */
export const composeConfirmation =
  (links: Links): ComposeMail =>
  (db, { shipperId, parameters }) =>
    db.transaction(async (tx) => {
      const { email } = parameters as { email: string };
      const { token, tokenHash, expiresAt } = newLink(links);
      const [asked] = await tx.query<{ account: string }>(
        'link-notify-address',
        `update notify_addresses a set token_hash = $3, expires_at = $4
           from shippers s
          where a.shipper_id = $1 and a.email = $2 and a.confirmed_at is null
            and s.shipper_id = a.shipper_id and s.status <> 'REMOVED'
         returning s.name as account`,
        [shipperId, email, tokenHash, expiresAt],
      );
      if (!asked) return null;
      return {
        to: email,
        subject: 'Confirm this address for Parcelhook',
        paragraphs: [
          `The Parcelhook account ${asked.account} asks to have messages about its webhooks sent to ${email}.`,
        ],
        action: { label: 'Confirm the address', url: `${links.publicUrl}/confirm-address?token=${token}` },
        remarks: [
          'The link is good for 24 hours.',
          'If you do not expect this, do nothing: nothing is sent to you.',
        ],
      };
    });

export interface AskedAddress {
  email: string;
  account: string;
}

const isOpen = 'token_hash = $1 and expires_at > now() and confirmed_at is null';

/** Null if the link is void. */
export async function findAskedAddress(db: Database, tokenHash: Buffer): Promise<AskedAddress | null> {
  const rows = await db.query<AskedAddress>(
    'find-asked-address',
    `select email, s.name as account from notify_addresses a join shippers s using (shipper_id)
      where ${isOpen} and s.status <> 'REMOVED'`,
    [tokenHash],
  );
  return rows[0] ?? null;
}

/** False if the link is void. */
export async function confirmAddress(db: Database, tokenHash: Buffer): Promise<boolean> {
  const rows = await db.query(
    'confirm-address',
    `update notify_addresses set confirmed_at = now(), token_hash = null, expires_at = null where ${isOpen} returning 1`,
    [tokenHash],
  );
  return rows.length > 0;
}

/** Those that did not confirm may be asked anew. */
export async function forgetUnconfirmed(db: Database): Promise<void> {
  await db.query(
    'forget-unconfirmed',
    `delete from notify_addresses where confirmed_at is null and asked_at < now() - interval '2 days'`,
  );
}

const path = '/confirm-address';
const form = z.object({ token: linkToken }).meta({ id: 'AddressConfirmation' });

export const confirmPage = (db: Database): Router =>
  linkPage({
    path,
    title: 'Confirm your address',
    another: 'The user who entered the address can ask for a new one.',
    find: (tokenHash) => findAskedAddress(db, tokenHash),
    about: ({ email, account }) =>
      toText(
        html`<p class="long">
          The Parcelhook account ${account} asks to have messages about its webhooks sent to ${email}.
        </p>`,
      ),
    button: 'Confirm the address',
    submit: async (tokenHash) =>
      (await confirmAddress(db, tokenHash))
        ? { title: 'Address confirmed', body: '<p>Messages about the webhook will be sent to it.</p>' }
        : null,
  });

export const confirmPaths = (schemas: SchemaCollector): Paths =>
  linkPaths(schemas, {
    path,
    tag: 'Webhooks',
    form,
    show: {
      operationId: 'showConfirmationForm',
      summary: 'Show the page for confirming an address',
      description:
        'A link to it is mailed to each `notifyEmail` that does not belong to a user of the shipper.',
    },
    submit: {
      operationId: 'confirmAddress',
      summary: 'Confirm an address',
      description: 'Submits the form of the page, and uses up the link.',
      done: 'The address is confirmed.',
      refused: 'The form could not be read.',
    },
  });
