import * as z from 'zod';
import { actorKinds, auditActions } from '../accounts/audit/audit.js';
import { described } from '../http/described.js';
import { moment, nextCursor, uuid } from '../http/request/fields.js';

export const shipperStatuses = ['ACTIVE', 'SUSPENDED', 'REMOVED'] as const;

const shipperId = uuid('Identifier of the shipper.');
const userId = uuid('Identifier of the user.');

export const listedShipper = z
  .object({
    shipperId,
    name: described(z.string(), 'Its name.', 'Acme Books'),
    status: described(
      z.enum(shipperStatuses),
      '`SUSPENDED`: its requests are refused and its webhooks held until it is resumed. `REMOVED`: for good.',
    ),
    createdAt: moment('When it was registered.'),
    previousKeyValidUntil: described(
      moment('').nullable(),
      'Until then the account key before the last rotation is good, too; else null.',
      null,
    ),
  })
  .meta({ id: 'ShipperAccount', description: 'The shipper.' });

export const shipperList = z
  .object({ shippers: z.array(listedShipper), nextCursor })
  .meta({ description: 'Shippers, in the order of their registration.' });

export const removedShipper = z
  .object({ shipperId })
  .meta({ description: 'It is removed: no request and no send from now on. Its data goes in steps.' });

export const rotatedKey = z
  .object({
    accountKey: described(
      z.string(),
      'The new account key of all its users; shown only here.',
      'ak_AAECAwQFBgcICQoLDA0ODxAREhM',
    ),
    previousKeyValidUntil: moment('Until then the key before is good, too.'),
  })
  .meta({ id: 'RotatedAccountKey', description: 'The new account key, which is shown only here.' });

export const userList = z
  .object({
    users: z.array(
      z
        .object({
          userId,
          email: described(z.string(), 'E-mail address, used to log in.', 'ana@example.com'),
          hasPassword: described(z.boolean(), 'False until a password was set.', true),
          createdAt: moment('When the user was registered.'),
        })
        .meta({ id: 'UserAccount', description: 'A user.' }),
    ),
    nextCursor,
  })
  .meta({ description: 'Users of the shipper, in the order of their registration.' });

export const endedUser = z
  .object({ userId })
  .meta({ description: "Done: every token of the user's is refused within 10 seconds." });

const idOrNull = (description: string) => described(uuid('').nullable(), description, null);

export const auditList = z
  .object({
    entries: z.array(
      z
        .object({
          auditId: uuid('Identifier of the entry.'),
          at: moment('When it was done; of refusals, when they were written down.'),
          action: described(z.enum(auditActions), 'What was done, or refused.', 'SHIPPER_SUSPENDED'),
          outcome: described(z.enum(['DONE', 'REFUSED']), 'Whether it was done.'),
          actor: z.object({
            kind: described(
              z.enum(actorKinds),
              '`UNKNOWN` did not prove who it is; `SERVICE` is the service itself.',
            ),
            name: described(
              z.string().nullable(),
              "An operator's name, or a user's id; null of others.",
              'operator',
            ),
            address: described(
              z.string().nullable(),
              'Where the request came from; for a stranger (`UNKNOWN`) the address block, an IPv4 /24 or an IPv6 /56; null where refusals of many callers are counted together.',
              '203.0.113.7',
            ),
          }),
          shipperId: idOrNull('The shipper it is about.'),
          userId: idOrNull('The user it is about.'),
          webhookId: idOrNull('The webhook it is about.'),
          shipmentId: idOrNull('The shipment it is about.'),
          fields: described(z.array(z.string()), 'Names of the fields that were given.', []),
          count: described(z.int().min(1), 'How many refusals the entry stands for.', 1),
        })
        .meta({ id: 'AuditEntry', description: 'Who did, or tried, what, when and from where.' }),
    ),
    nextCursor,
  })
  .meta({ description: 'The audit log, newest first.' });
