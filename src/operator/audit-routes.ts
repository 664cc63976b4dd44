import * as z from 'zod';
import { listAudit, type AuditRow, actorKinds, auditActions } from '../accounts/audit.js';
import { isoOffset, operatorRoute, type Route } from '../http/route.js';
import { described, idInPath, instantInQuery, instant, nextCursor, uuid } from '../http/request/fields.js';
import { isUuid, pageOf, paging } from '../http/request/paging.js';
import type { Database } from '../platform/database/postgres.js';

const id = (description: string) => idInPath(description).refine(isUuid, 'must be a UUID').optional();

const query = z.object({
  ...paging,
  shipperId: id('Only about this shipper.'),
  userId: id('Only about this user.'),
  webhookId: id('Only about this webhook.'),
  actor: described(
    z.string().regex(/^[\w-]{1,64}$/, 'must be the name of an operator, or the id of a user or token'),
    'Only what this operator (by name), user or token (by id) did.',
    'operator',
  ).optional(),
  action: described(z.enum(auditActions), 'Only this action.').optional(),
  outcome: described(
    z.enum(['DONE', 'REFUSED'], 'must be DONE or REFUSED'),
    'Only actions that were done, or only refused ones.',
  ).optional(),
  from: instantInQuery('Only at this time or later', '2026-11-21T00:00:00Z'),
  to: instantInQuery('Only at this time or earlier', '2026-11-22T00:00:00Z'),
});

const idOrNull = (description: string) => described(uuid('').nullable(), description, null);

const auditList = z
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
              "An operator's name, or the id of a user or token; else null.",
              'operator',
            ),
            address: described(
              z.string().nullable(),
              'Where the request came from. For `UNKNOWN` it is the address block, an IPv4 /24 or an IPv6 /56; null if refusals of many callers are counted together.',
              '203.0.113.7',
            ),
          }),
          shipperId: uuid('The shipper it is about.').nullable(),
          userId: idOrNull('The user it is about.'),
          webhookId: idOrNull('The webhook it is about.'),
          shipmentId: idOrNull('The shipment it is about.'),
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

const view = ({ at, actorKind, actor, address, ...row }: AuditRow) => ({
  ...row,
  at: isoOffset(at),
  actor: { kind: actorKind, name: actor, address },
});

export function auditRoutes({ db }: { db: Database }): Route[] {
  return [
    operatorRoute({
      method: 'get',
      path: '/operator/v1/audit',
      summary: 'Read the audit log, newest first',
      operationId: 'listAudit',
      description:
        'Who changed which account, webhook, token or secret, which operator read the payload of a delivery, and who was refused as an operator or at a login. What one actor does to one thing within a minute is one entry with a count; nothing else of an entry changes. Those older than `AUDIT_RETENTION` are deleted.',
      responses: { 200: auditList },
      query,
      handle: async ({ query }) => {
        const { filter, after, rows, cut } = pageOf('audit', query);
        const { page, nextCursor } = cut(await listAudit(db, filter, after, rows), (row) => row.auditId);
        return { data: { entries: page.map(view), nextCursor } };
      },
    }),
  ];
}
