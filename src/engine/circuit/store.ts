import type { Database } from '../../platform/database/postgres.js';
import { rowSet } from '../../platform/database/parameters.js';
import { isPausedByOperator, isActive, ms } from '../outbox/sql.js';
import { noFacts, type Notice } from './notices.js';

/** The circuit of one webhook, shared by all workers. */
export interface Circuit {
  windowStartedAt: Date;
  attempts: number;
  failures: number;
  failingSince: Date | null;
  /** Since `failingSince`. */
  failedAttempts: number;
  /** Theirs, at most as many as a verdict needs. */
  failedDeliveries: string[];
  lastFailedAt: Date | null;
  /** The status of the last failure's response, or its error code. */
  lastFailure: string | null;
  /** Its owner was told of this failing: 0 nothing, 1 that it fails, 2 and 3 when it is disabled. */
  told: number;
  lastSuccessAt: Date | null;
  /** Null while closed. */
  openUntil: Date | null;
  timesOpened: number;
}

/** A webhook that fails for so long is disabled if it did often enough, because little traffic is no proof. */
export const verdict = { daysWithoutSuccess: 5, failedAttempts: 10, failedDeliveries: 3 };

/** An hour without a success is a failing from so many failed attempts on. */
export const minFailedLong = 3;

export const newCircuit = (now: Date): Circuit => ({
  windowStartedAt: now,
  attempts: 0,
  failures: 0,
  failingSince: null,
  failedAttempts: 0,
  failedDeliveries: [],
  lastFailedAt: null,
  lastFailure: null,
  told: 0,
  lastSuccessAt: null,
  openUntil: null,
  timesOpened: 0,
});

interface CircuitRow extends Circuit {
  webhookId: string;
  now: Date;
}

const calledRows = rowSet<AutoDisableTarget>({
  webhook_id: ['uuid', ({ webhookId }) => webhookId],
  target_address: ['text', ({ storedAddress }) => storedAddress],
});

/** In one order, so that there are no deadlocks. Webhooks that have another address by now are left out. */
export async function lockCircuits(tx: Database, called: AutoDisableTarget[]): Promise<CircuitRow[]> {
  await tx.query(
    'make-circuits',
    `insert into circuits (webhook_id, window_started_at, attempts, failures)
     select webhook_id, now(), 0, 0 from unnest($1::uuid[]) as webhook_id order by 1 on conflict do nothing`,
    [called.map(({ webhookId }) => webhookId)],
  );
  const rows = await tx.query<CircuitRow>(
    'lock-circuits',
    `select c.webhook_id as "webhookId", now() as now, c.window_started_at as "windowStartedAt", c.attempts, c.failures,
            c.failing_since as "failingSince", c.failed_attempts as "failedAttempts",
            c.failed_deliveries as "failedDeliveries", c.last_failed_at as "lastFailedAt",
            c.last_failure as "lastFailure", c.told, c.last_success_at as "lastSuccessAt", c.open_until as "openUntil", c.times_opened as "timesOpened"
       from ${calledRows.as('i')}
       join webhooks w on w.webhook_id = i.webhook_id and w.target_address = i.target_address
       join circuits c on c.webhook_id = i.webhook_id
      order by c.webhook_id for update of c`,
    calledRows.arrays(called),
  );
  return rows.map((row) => ({ ...newCircuit(row.now), ...row }));
}

interface SavedCircuit {
  webhookId: string;
  probed: boolean;
  circuit: Circuit;
}

const circuitRows = rowSet<SavedCircuit>({
  webhook_id: ['uuid', ({ webhookId }) => webhookId],
  window_started_at: ['timestamptz', ({ circuit }) => circuit.windowStartedAt],
  attempts: ['int', ({ circuit }) => circuit.attempts],
  failures: ['int', ({ circuit }) => circuit.failures],
  failing_since: ['timestamptz', ({ circuit }) => circuit.failingSince],
  failed_attempts: ['int', ({ circuit }) => circuit.failedAttempts],
  failed_deliveries: ['text', ({ circuit }) => `{${circuit.failedDeliveries.join(',')}}`],
  last_failed_at: ['timestamptz', ({ circuit }) => circuit.lastFailedAt],
  last_failure: ['text', ({ circuit }) => circuit.lastFailure],
  told: ['int', ({ circuit }) => circuit.told],
  last_success_at: ['timestamptz', ({ circuit }) => circuit.lastSuccessAt],
  open_until: ['timestamptz', ({ circuit }) => circuit.openUntil],
  times_opened: ['int', ({ circuit }) => circuit.timesOpened],
  probed: ['bool', ({ probed }) => probed],
});

export async function saveCircuits(tx: Database, results: SavedCircuit[]): Promise<void> {
  await tx.query(
    'save-circuits',
    `update circuits c
        set window_started_at = i.window_started_at, attempts = i.attempts, failures = i.failures,
            failing_since = i.failing_since, failed_attempts = i.failed_attempts,
            failed_deliveries = i.failed_deliveries::uuid[], last_failed_at = i.last_failed_at,
            last_failure = i.last_failure, told = i.told,
            last_success_at = i.last_success_at, open_until = i.open_until,
            open_wait = case when i.open_until is distinct from c.open_until then i.open_until - now() else c.open_wait end,
            times_opened = i.times_opened,
            probe_until = case when i.probed then null else c.probe_until end
       from ${circuitRows.as('i')}
      where c.webhook_id = i.webhook_id`,
    circuitRows.arrays(results),
  );
}

/** ORDER_HOLD starts again for what waits behind a failed state. */
export async function markCalled(tx: Database, webhookIds: string[]): Promise<void> {
  await tx.query(
    'mark-called',
    `with called as materialized (
       select webhook_id from webhooks where webhook_id = any($1::uuid[]) and deleted_at is null
        order by webhook_id for no key update
     )
     update webhooks set called_since = now() where webhook_id = any(array(select webhook_id from called))`,
    [webhookIds],
  );
}

/** A webhook that is ACTIVE keeps its circuit. Call it before the change, in its transaction. */
export async function forgetCircuit(tx: Database, shipperId: string, webhookId: string): Promise<void> {
  await tx.query(
    'forget-circuit',
    `with gone as (
       delete from circuits
        where webhook_id = $2 and exists (
          select 1 from webhooks where webhook_id = $2 and shipper_id = $1 and status <> 'ACTIVE')
       returning open_until
     )
     update webhooks set called_since = now()
      where webhook_id = $2 and exists (select 1 from gone where open_until is not null)`,
    [shipperId, webhookId],
  );
}

/**
 * For another address. The row is made if there is none, so that outcomes of the address before, which are being
 * counted, come first. Call it before the change, in its transaction.
 */
export async function renewCircuit(tx: Database, shipperId: string, webhookId: string): Promise<void> {
  await tx.query(
    'renew-circuit',
    `with before as materialized (
       select open_until from circuits where webhook_id = $2
     ), renewed as (
       insert into circuits (webhook_id, window_started_at, attempts, failures)
       select webhook_id, now(), 0, 0 from webhooks where webhook_id = $2 and shipper_id = $1 and deleted_at is null
       on conflict (webhook_id) do update
          set window_started_at = now(), attempts = 0, failures = 0, failing_since = null, failed_attempts = 0,
              failed_deliveries = '{}', last_failed_at = null, last_failure = null, told = 0, open_until = null, open_wait = null, times_opened = 0,
              probe_until = null
       returning webhook_id
     )
     update webhooks set called_since = now()
      where webhook_id = any(array(select webhook_id from renewed))
        and exists (select from before where open_until is not null)`,
    [shipperId, webhookId],
  );
}

/** Call it before the change, in its transaction. */
export async function forgetCircuits(tx: Database, shipperId: string): Promise<void> {
  await tx.query(
    'forget-circuits',
    `with c as materialized (
       select webhook_id from circuits
        where webhook_id = any(array(select webhook_id from webhooks where shipper_id = $1 and deleted_at is null))
        order by webhook_id for update
     )
     delete from circuits where webhook_id = any(array(select webhook_id from c))`,
    [shipperId],
  );
}

/** A webhook and the address that was called; null: any. */
export interface AutoDisableTarget {
  webhookId: string;
  storedAddress: string | null;
}

/** Why a response disables the webhook: a 410, or `webhook-delivery: disable`. */
export const responseReasons = ['GONE', 'REFUSED'] as const;
export type ResponseReason = (typeof responseReasons)[number];
export type DisabledReason = ResponseReason | 'FAILING';

/**
 * A test or a redelivery also calls a paused webhook, and its response may disable that. It does not if an operator has
 * paused the webhook, because its shipper could resume a disabled one.
 */
const disabledFrom: Record<DisabledReason, string[]> = {
  GONE: ['ACTIVE', 'PAUSED'],
  REFUSED: ['ACTIVE', 'PAUSED'],
  FAILING: ['ACTIVE'],
};

export function disableWebhooks(
  db: Database,
  targets: AutoDisableTarget[],
  reason: DisabledReason,
): Promise<{ webhookId: string; shipperId: string; since: Date | null; lastFailure: string | null }[]> {
  return db.query(
    'disable-webhooks',
    `with targets as materialized (
       select w.webhook_id
         from webhooks w join unnest($1::uuid[], $2::text[]) as d (webhook_id, target_address) using (webhook_id)
        where w.target_address = coalesce(d.target_address, w.target_address)
          and w.status = any($4::text[]) and w.deleted_at is null and not ${isPausedByOperator('w')}
        order by w.webhook_id for no key update of w
     )
     update webhooks w
        set status = 'DISABLED', disabled_reason = $3, revision = revision + 1, updated_at = now(), stopped_at = now()
      where webhook_id = any(array(select webhook_id from targets))
     returning w.webhook_id as "webhookId", w.shipper_id as "shipperId",
               (select failing_since from circuits where webhook_id = w.webhook_id) as since,
               (select last_failure from circuits where webhook_id = w.webhook_id) as "lastFailure"`,
    [
      targets.map(({ webhookId }) => webhookId),
      targets.map(({ storedAddress }) => storedAddress),
      reason,
      disabledFrom[reason],
    ],
  );
}

export const disabledAfter = (failingSince: Date): Date =>
  new Date(failingSince.getTime() + verdict.daysWithoutSuccess * 86_400_000);

/** When a webhook whose circuit is `c` is disabled at the earliest. */
export const disablesAt = (c: string) =>
  `(${c}.failing_since + make_interval(hours => ${24 * verdict.daysWithoutSuccess}))`;

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
