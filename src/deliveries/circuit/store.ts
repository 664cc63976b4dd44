import type { Database } from '../../platform/database/postgres.js';
import { isActive } from '../outbox/sql.js';
import {
  applyOutcomes,
  newCircuit,
  type Circuit,
  type CircuitTimes,
  type Outcomes,
  type Transition,
} from './rule.js';

interface CircuitRow extends Circuit {
  webhookId: string;
  now: Date;
}

/**
 * Adds outcomes to the circuits of several webhooks, in a transaction under row locks, so that all workers count
 * together. Returns the transitions, and which of the circuits are open then.
 */
export async function updateCircuits(
  tx: Database,
  outcomes: Map<string, Outcomes>,
  times: CircuitTimes,
): Promise<{ webhookId: string; transition: Transition; isOpen: boolean }[]> {
  const webhookIds = [...outcomes.keys()].sort(); // one order for all: no deadlocks
  const rows = await lockCircuits(tx, webhookIds);
  const results = rows.map((row) => {
    const { circuit, transition } = applyOutcomes(row, outcomes.get(row.webhookId)!, row.now, times);
    return {
      webhookId: row.webhookId,
      probed: outcomes.get(row.webhookId)!.probe !== null,
      circuit,
      transition,
      isOpen: circuit.openUntil !== null,
    };
  });
  await saveCircuits(tx, results);
  const closed = results
    .filter(({ transition }) => transition === 'CLOSED')
    .map(({ webhookId }) => webhookId);
  if (closed.length > 0) await markCalled(tx, closed);
  return results;
}

async function lockCircuits(tx: Database, webhookIds: string[]): Promise<CircuitRow[]> {
  await tx.query(
    'make-circuits',
    `insert into circuits (webhook_id, window_started_at, attempts, failures)
     select webhook_id, now(), 0, 0 from unnest($1::uuid[]) as webhook_id order by 1 on conflict do nothing`,
    [webhookIds],
  );
  const rows = await tx.query<CircuitRow>(
    'lock-circuits',
    `select webhook_id as "webhookId", now() as now, window_started_at as "windowStartedAt", attempts, failures,
            failing_since as "failingSince", last_success_at as "lastSuccessAt", open_until as "openUntil",
            times_opened as "timesOpened"
       from circuits where webhook_id = any($1::uuid[]) order by webhook_id for update`,
    [webhookIds],
  );
  return rows.map((row) => ({ ...newCircuit(row.now), ...row }));
}

async function saveCircuits(
  tx: Database,
  results: { webhookId: string; probed: boolean; circuit: Circuit }[],
): Promise<void> {
  const column = <Value>(value: (circuit: Circuit) => Value) => results.map(({ circuit }) => value(circuit));
  await tx.query(
    'save-circuits',
    `update circuits c
        set window_started_at = i.window_started_at, attempts = i.attempts, failures = i.failures,
            failing_since = i.failing_since, last_success_at = i.last_success_at, open_until = i.open_until,
            open_wait = case when i.open_until is distinct from c.open_until then i.open_until - now() else c.open_wait end,
            times_opened = i.times_opened,
            probe_until = case when i.probed then null else c.probe_until end
       from unnest($1::uuid[], $2::timestamptz[], $3::int[], $4::int[], $5::timestamptz[], $6::timestamptz[],
                   $7::timestamptz[], $8::int[], $9::bool[])
         as i (webhook_id, window_started_at, attempts, failures, failing_since, last_success_at, open_until,
               times_opened, probed)
      where c.webhook_id = i.webhook_id`,
    [
      results.map(({ webhookId }) => webhookId),
      column((circuit) => circuit.windowStartedAt),
      column((circuit) => circuit.attempts),
      column((circuit) => circuit.failures),
      column((circuit) => circuit.failingSince),
      column((circuit) => circuit.lastSuccessAt),
      column((circuit) => circuit.openUntil),
      column((circuit) => circuit.timesOpened),
      results.map(({ probed }) => probed),
    ],
  );
}

/** What is held behind a state that failed waits from now on (ORDER_HOLD). */
async function markCalled(tx: Database, webhookIds: string[]): Promise<void> {
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

/**
 * A webhook that its owner resumes begins with a closed circuit; one that is already ACTIVE keeps its circuit. To be
 * called before the change, in its transaction.
 */
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

/** All webhooks of a shipper begin anew; to be called before the change, in its transaction. */
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

/** A webhook that is not to be called any more, if it still has that address; null: whatever its address is. */
export interface Doomed {
  webhookId: string;
  storedAddress: string | null;
}

/**
 * A test or a redelivery reaches a paused webhook too, and its 410 counts; a paused one's days without success do not.
 */
const disabledFrom = { GONE: ['ACTIVE', 'PAUSED'], FAILING: ['ACTIVE'] };

/** Disables webhooks; returns those that were not until now. What is owed to them is held from then on. */
export function disableWebhooks(
  db: Database,
  doomed: Doomed[],
  reason: keyof typeof disabledFrom,
): Promise<{ webhookId: string; shipperId: string }[]> {
  return db.query(
    'disable-webhooks',
    `with doomed as materialized (
       select w.webhook_id
         from webhooks w join unnest($1::uuid[], $2::text[]) as d (webhook_id, target_address) using (webhook_id)
        where w.target_address = coalesce(d.target_address, w.target_address)
          and w.status = any($4::text[]) and w.deleted_at is null
        order by w.webhook_id for no key update of w
     )
     update webhooks w
        set status = 'DISABLED', disabled_reason = $3, revision = revision + 1, updated_at = now(), stopped_at = now()
      where webhook_id = any(array(select webhook_id from doomed))
     returning w.webhook_id as "webhookId", w.shipper_id as "shipperId"`,
    [
      doomed.map(({ webhookId }) => webhookId),
      doomed.map(({ storedAddress }) => storedAddress),
      reason,
      disabledFrom[reason],
    ],
  );
}

const failingFor = (days: string) => `failing_since < now() - make_interval(days => ${days})`;

/** Whether an active webhook seems to be without one success for `days` in which attempts were made. */
export async function seemsHopeless(db: Database, days: number): Promise<boolean> {
  const rows = await db.query(
    'seems-hopeless',
    `select 1 from circuits join webhooks using (webhook_id)
      where ${failingFor('$1')} and ${isActive('webhooks')} limit 1`,
    [days],
  );
  return rows.length > 0;
}

/**
 * Active webhooks without one success for `days` in which attempts were made, locked against outcomes that are being
 * counted. An outcome may have been lost before it was counted; so what the log says is asked first.
 */
export async function lockHopeless(tx: Database, days: number): Promise<string[]> {
  await tx.query(
    'lock-failing',
    `select from circuits where ${failingFor('$1')} order by webhook_id for update`,
    [days],
  );
  await tx.query(
    'spare-succeeded',
    `update circuits c set failing_since = null
      where ${failingFor('$1')} and exists (
        select 1 from deliveries d
         where d.webhook_id = c.webhook_id and d.status = 'SUCCEEDED' and d.delivery_id >= uuid_floor(c.failing_since))`,
    [days],
  );
  const rows = await tx.query<{ webhook_id: string }>(
    'find-hopeless',
    `select webhook_id from circuits join webhooks using (webhook_id)
      where ${failingFor('$1')} and ${isActive('webhooks')}`,
    [days],
  );
  return rows.map((row) => row.webhook_id);
}
