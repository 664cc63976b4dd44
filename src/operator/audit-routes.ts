import * as z from 'zod';
import { auditActions } from '../accounts/audit/audit.js';
import { listAudit, type AuditRow } from '../accounts/audit/audit-store.js';
import { described } from '../http/described.js';
import { isoOffset } from '../http/envelope.js';
import { idInPath } from '../http/request/fields.js';
import { cutPage, isUuid, paging } from '../http/request/paging.js';
import { momentInQuery } from '../http/request/moments.js';
import { route, type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { auditList } from './account-answers.js';

const id = (description: string) => idInPath(description).refine(isUuid, 'must be a UUID').optional();

const query = z.object({
  ...paging,
  shipperId: id('Only of this shipper.'),
  userId: id('Only about this user.'),
  webhookId: id('Only about this webhook.'),
  actor: described(
    z.string().regex(/^[\w-]{1,64}$/, 'must be the name of an operator or the id of a user'),
    'Only what this operator (by name) or user (by id) did.',
    'operator',
  ).optional(),
  action: described(
    z.enum(auditActions, `must be one of ${auditActions.join(', ')}`),
    'Only this.',
  ).optional(),
  outcome: described(
    z.enum(['DONE', 'REFUSED'], 'must be DONE or REFUSED'),
    'Only what was done, or what was refused.',
  ).optional(),
  from: momentInQuery('Only of then or later'),
  to: momentInQuery('Only of then or earlier'),
});

const view = ({ at, actorKind, actor, address, ...row }: AuditRow) => ({
  ...row,
  at: isoOffset(at),
  actor: { kind: actorKind, name: actor, address },
});

/** Who changed which account, webhook or secret (contract, section 6). */
export function auditRoutes({ db }: { db: Database }): Route[] {
  return [
    route({
      method: 'get',
      path: '/operator/v1/audit',
      summary: 'Read the audit log, newest first',
      operationId: 'listAudit',
      tag: 'Operator',
      description:
        'Who changed which account, webhook or secret, and who was refused as an operator or at a login. It is only ever added to; what is older than `AUDIT_RETENTION` is dropped.',
      answers: { 200: auditList },
      auth: 'operator',
      query,
      handle: async ({ query: { limit, cursor, ...filter } }) => {
        const rows = await listAudit(db, filter, cursor, limit + 1);
        const { page, nextCursor } = cutPage(rows, limit, (row) => row.auditId);
        return { data: { entries: page.map(view), nextCursor } };
      },
    }),
  ];
}
