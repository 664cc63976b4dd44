import * as z from 'zod';
import { listAudit, auditActions } from '../accounts/audit.js';
import { auditList, viewAudit } from '../accounts/responses.js';
import { operatorRoute, type Route } from '../http/route.js';
import { described, idInPath, instantInQuery } from '../http/request/fields.js';
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
        return { data: { entries: page.map(viewAudit), nextCursor } };
      },
    }),
  ];
}
