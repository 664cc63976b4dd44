import * as z from 'zod';
import { described, instant, nextCursor, uuid } from '../http/request/fields.js';
import { isoOffset } from '../http/route.js';
import { actorKinds, auditActions, type AuditRow } from './audit.js';
import type { ListedUser } from './users.js';

export const userId = uuid('Identifier of the user.');

export const userList = z
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

export const viewUser = (user: ListedUser) => ({ ...user, createdAt: isoOffset(user.createdAt) });

const idOrNull = (description: string) => described(uuid('').nullable(), description, null);

export const auditList = z
  .object({
    entries: z.array(
      z
        .object({
          auditId: uuid('Identifier of the entry.'),
          at: instant(
            'When it was done, for the first time; for refusals, when they were written to the log.',
          ),
          action: described(z.enum(auditActions), 'What was done, or refused.', 'SHIPPER_SUSPENDED'),
          outcome: described(z.enum(['DONE', 'REFUSED']), 'Whether it was done.'),
          actor: z.object({
            kind: described(
              z.enum(actorKinds),
              '`TOKEN` is a program; `UNKNOWN` did not authenticate; `SERVICE` is the service itself.',
            ),
            name: described(
              z.string().nullable(),
              "An operator's name, which shippers do not get, or the id of a user or token; else null.",
              'operator',
            ),
            address: described(
              z.string().nullable(),
              "Where the request came from; shippers do not get an operator's address. For `UNKNOWN` it is the address block, an IPv4 /24 or an IPv6 /56; null if refusals of many callers are counted together.",
              '203.0.113.7',
            ),
          }),
          shipperId: uuid('The shipper it is about.').nullable(),
          userId: idOrNull('The user it is about.'),
          webhookId: idOrNull('The webhook it is about.'),
          shipmentId: idOrNull('The shipment it is about.'),
          trackingId: described(
            z.string().nullable(),
            'The tracking id of that shipment; null once the shipment is deleted with its shipper.',
            null,
          ),
          tokenId: idOrNull('The token of a program it is about.'),
          fields: described(z.array(z.string()), 'Names of the given fields.', ['status']),
          count: described(
            z.int().min(1),
            'How many refusals, or changes within a minute, the entry stands for.',
            1,
          ),
        })
        .meta({
          id: 'AuditEntry',
          description: 'Who did or tried what, when and from where.',
        }),
    ),
    nextCursor,
  })
  .meta({ description: 'The audit log, newest first.' });

export const viewAudit = ({ at, actorKind, actor, address, ...row }: AuditRow) => ({
  ...row,
  at: isoOffset(at),
  actor: { kind: actorKind, name: actor, address },
});

/** A shipper learns that the actor was an operator, but neither the name nor the address. */
export const viewOwnAudit = (row: AuditRow) =>
  viewAudit(row.actorKind === 'OPERATOR' ? { ...row, actor: null, address: null } : row);
