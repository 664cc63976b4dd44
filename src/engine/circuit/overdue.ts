import type { Database } from '../../platform/database/postgres.js';
import { isActive, ms } from '../outbox/sql.js';
import { noFacts, type Notice } from './notices.js';
import { disabledAfter, disablesAt, minFailedLong, verdict } from './store.js';

const dayOf = (time: string) => `date_trunc('day', ${time}, 'UTC')`;
const isHopeless = `${disablesAt('c')} < now() and c.failed_attempts >= ${verdict.failedAttempts}
  and cardinality(c.failed_deliveries) >= ${verdict.failedDeliveries} and ${dayOf('c.last_failed_at')} > ${dayOf('c.failing_since')}`;

const within = (hours: number) => `${disablesAt('c')} <= now() + interval '${hours} hours'`;
/** `Circuit.told` as it is to be by now; null if nothing fails. $1: `failingAfterMs`. */
const toTell = `case
  when c.told = 0 and (c.failing_since > now() - ${ms('$1')} or c.failed_attempts < ${minFailedLong}) then 0
  when ${within(24)} then 3 when ${within(72)} then 2 when c.failing_since is not null then 1 end`;

const isOverdue = `(${isHopeless} or c.told < ${toTell}) and ${isActive('w')}`;
const maxPerRun = 1_000;

/** A cheap first look, which trusts the circuits: `lockOverdue` checks the log, too. */
export async function isAnyOverdue(db: Database, failingAfterMs: number): Promise<boolean> {
  const rows = await db.query(
    'any-overdue-webhook',
    `select 1 from circuits c join webhooks w using (webhook_id) where ${isOverdue} limit 1`,
    [failingAfterMs],
  );
  return rows.length > 0;
}

/**
 * Locks the circuits of webhooks that are to be disabled (`hopeless`), or whose owner is to be told something. A success
 * may have been lost before it was counted, so the log is checked first; `recovered` are those that failed until then.
 */
export async function lockOverdue(
  tx: Database,
  failingAfterMs: number,
): Promise<{ failing: string[]; hopeless: string[]; recovered: Notice[] }> {
  const rows = await tx.query<{ webhookId: string; hopeless: boolean }>(
    'lock-overdue',
    `select c.webhook_id as "webhookId", ${isHopeless} as hopeless
       from circuits c join webhooks w using (webhook_id)
      where ${isOverdue} order by c.webhook_id limit ${maxPerRun} for update of c`,
    [failingAfterMs],
  );
  const spared = await spareSucceeded(
    tx,
    rows.map(({ webhookId }) => webhookId),
  );
  const failing = rows.filter(({ webhookId }) => !spared.has(webhookId));
  return {
    failing: failing.map(({ webhookId }) => webhookId),
    hopeless: failing.filter(({ hopeless }) => hopeless).map(({ webhookId }) => webhookId),
    recovered: [...spared.values()].flatMap((notice) => notice ?? []),
  };
}

/** By webhook; null if its owner was not told that it fails. */
async function spareSucceeded(tx: Database, webhookIds: string[]): Promise<Map<string, Notice | null>> {
  const rows = await tx.query<Pick<Notice, 'webhookId' | 'since' | 'lastFailure'> & { recovered: boolean }>(
    'spare-succeeded',
    `with spared as materialized (
       select * from circuits c
        where webhook_id = any($1::uuid[]) and exists (
          select 1 from deliveries d
           where d.webhook_id = c.webhook_id and d.status = 'SUCCEEDED' and d.delivery_id >= uuid_floor(c.failing_since))
     )
     update circuits c
        set failing_since = null, failed_attempts = 0, failed_deliveries = '{}', last_failed_at = null,
            last_failure = null, told = (c.open_until is not null)::int
       from spared s
      where c.webhook_id = s.webhook_id
     returning c.webhook_id as "webhookId", s.failing_since as since, s.last_failure as "lastFailure",
               s.told > 0 and s.open_until is null as recovered`,
    [webhookIds],
  );
  return new Map(
    rows.map(({ recovered, ...facts }) => [
      facts.webhookId,
      recovered ? { ...noFacts, ...facts, state: 'WEBHOOK_RECOVERED', reason: null } : null,
    ]),
  );
}

/** Of those that still fail: that they do, and when they are disabled, 72 and 24 hours before. */
export async function tellFailing(
  tx: Database,
  webhookIds: string[],
  failingAfterMs: number,
): Promise<Notice[]> {
  const rows = await tx.query<{
    webhookId: string;
    before: number;
    told: number;
    since: Date;
    lastFailure: string | null;
  }>(
    'tell-failing',
    `update circuits c set told = n.told
       from (select c.webhook_id, c.told as before, ${toTell} as told
               from circuits c join webhooks w using (webhook_id)
              where c.webhook_id = any($2::uuid[]) and ${isActive('w')}) n
      where c.webhook_id = n.webhook_id and n.before < n.told
     returning c.webhook_id as "webhookId", n.before, n.told, c.failing_since as since, c.last_failure as "lastFailure"`,
    [failingAfterMs, webhookIds],
  );
  return rows.flatMap(({ before, told, since, ...facts }) => {
    const about = { ...noFacts, ...facts, since, disablesAt: disabledAfter(since) };
    return [
      ...(before === 0 ? [{ ...about, state: 'WEBHOOK_FAILING', reason: 'NO_SUCCESS' } as const] : []),
      ...(told > 1 ? [{ ...about, state: 'WEBHOOK_DISABLING', reason: 'FAILING' } as const] : []),
    ];
  });
}
