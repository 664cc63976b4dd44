import type { Router } from 'express';
import * as z from 'zod';
import { linkPage, linkPaths, linkToken } from '../../accounts/link-page.js';
import { html, toText } from '../../http/docs/pages.js';
import type { Paths, SchemaCollector } from '../../http/openapi/schemas.js';
import type { Database } from '../../platform/database/postgres.js';
import { confirmAddress, findAskedAddress } from './addresses.js';

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
