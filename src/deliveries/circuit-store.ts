import type { Database } from '../platform/postgres.js';
import { applyOutcomes, newCircuit, type Circuit, type Outcomes, type Transition } from './circuit.js';
import type { DueDelivery } from './enqueue.js';
import { itsTurn } from './order-store.js';

interface CircuitRow extends Circuit {
  webhookId: string;
  now: Date;
}

/**
 * Adds outcomes to the circuits of several webhooks, in a transaction under row locks, so that all workers count
 * together. A circuit that closes marks the webhook's backlog to be released. Answers the transitions.
 */
export async function updateCircuits(
  tx: Database,
  outcomes: Map<string, Outcomes>,
): Promise<{ webhookId: string; transition: Transition }[]> {
  const webhookIds = [...outcomes.keys()].sort(); // one order for all: no deadlocks
  const rows = await lockCircuits(tx, webhookIds);
  const results = rows.map((row) => {
    const { circuit, transition } = applyOutcomes(row, outcomes.get(row.webhookId)!, row.now);
    return {
      webhookId: row.webhookId,
      probed: outcomes.get(row.webhookId)!.probe !== null,
      circuit,
      transition,
    };
  });
  await saveCircuits(tx, results);
  const closed = results
    .filter(({ transition }) => transition === 'CLOSED')
    .map(({ webhookId }) => webhookId);
  if (closed.length > 0) await markForRelease(tx, closed);
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
            times_opened = i.times_opened,
            probe_delivery_id = case when i.probed then null else c.probe_delivery_id end,
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

/** updated_at moves with the mark, so that the mark outlasts every fan-out that still saw the circuit open. */
async function markForRelease(tx: Database, webhookIds: string[]): Promise<void> {
  await tx.query(
    'mark-for-release',
    `update webhooks set backlog = 'RELEASE', updated_at = now()
      where webhook_id = any($1::uuid[]) and deleted_at is null`,
    [webhookIds],
  );
}

/** As far as a probe is looked for among what is held. */
const probeCandidates = 100;

/**
 * Takes the oldest held delivery of each open circuit whose wait is over as its probe, one at a time. What has to wait
 * for an earlier state that waits for its own retry is a probe only if it is older than ORDER_HOLD.
 */
export function takeProbes(
  db: Database,
  probeMs: number,
  quietMs: number,
  orderHoldMs: number,
): Promise<DueDelivery[]> {
  return db.query<DueDelivery>(
    'take-probes',
    `with ripe as (
       select c.webhook_id, candidate.delivery_id, candidate.its_turn
         from circuits c join webhooks w using (webhook_id),
              lateral (
                select d.delivery_id, turn.its_turn
                  from (
                    select h.delivery_id, h.event_id, h.webhook_id, h.turn_waited_since from deliveries h
                     where h.webhook_id = c.webhook_id and h.completed_at is null and h.status = 'HELD'
                       and h.sweep_at is null and not h.claimed
                     order by h.delivery_id limit ${probeCandidates}) d
                  join events e using (event_id), lateral (select ${itsTurn('$3')} as its_turn) turn
                 where turn.its_turn or e.recorded_at <= now() - make_interval(secs => $3::float8 / 1000)
                 order by turn.its_turn desc, d.delivery_id limit 1) candidate
        where c.open_until <= now() and (c.probe_until is null or c.probe_until < now())
          and w.status = 'ACTIVE' and w.deleted_at is null
          for update of c skip locked
     ), probing as (
       update circuits c set probe_delivery_id = ripe.delivery_id,
              probe_until = now() + make_interval(secs => $1::float8 / 1000)
         from ripe where c.webhook_id = ripe.webhook_id
     )
     update deliveries d
        set status = 'PENDING', due_at = now(), sweep_at = now() + make_interval(secs => $2::float8 / 1000),
            turn_waited_since = case when ripe.its_turn then d.turn_waited_since
                                     else now() - make_interval(secs => $3::float8 / 1000) end
       from ripe
      where d.delivery_id = ripe.delivery_id and d.status = 'HELD' and d.sweep_at is null and not d.claimed
     returning d.delivery_id as "deliveryId", d.webhook_id as "webhookId"`,
    [probeMs, quietMs, orderHoldMs],
  );
}

/** A webhook set to ACTIVE by its owner begins anew; to be called before the change, in its transaction. */
export async function forgetCircuit(tx: Database, shipperId: string, webhookId: string): Promise<void> {
  await tx.query(
    'forget-circuit',
    `delete from circuits
      where webhook_id = $2 and exists (select 1 from webhooks where webhook_id = $2 and shipper_id = $1)`,
    [shipperId, webhookId],
  );
}

/** A webhook that is not to be called any more, if it still has that address; null: whatever its address is. */
export interface Doomed {
  webhookId: string;
  targetAddress: string | null;
}

/** Disables webhooks; answers those that were active until now. Their open deliveries are held by the next claim. */
export function disableWebhooks(
  db: Database,
  doomed: Doomed[],
  reason: string,
): Promise<{ webhookId: string }[]> {
  return db.query(
    'disable-webhooks',
    `update webhooks w set status = 'DISABLED', disabled_reason = $3, updated_at = now(), stopped_at = now()
       from unnest($1::uuid[], $2::text[]) as d (webhook_id, target_address)
      where w.webhook_id = d.webhook_id and w.target_address = coalesce(d.target_address, w.target_address)
        and w.status = 'ACTIVE' and w.deleted_at is null
     returning w.webhook_id as "webhookId"`,
    [doomed.map(({ webhookId }) => webhookId), doomed.map(({ targetAddress }) => targetAddress), reason],
  );
}

const failingFor = (days: string) => `failing_since < now() - make_interval(days => ${days})`;

/** Whether an active webhook seems to be without one success for `days` in which attempts were made. */
export async function seemsHopeless(db: Database, days: number): Promise<boolean> {
  const rows = await db.query(
    'seems-hopeless',
    `select 1 from circuits join webhooks using (webhook_id)
      where ${failingFor('$1')} and status = 'ACTIVE' and deleted_at is null limit 1`,
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
    'spare-succeeded',
    `update circuits c set failing_since = null
      where ${failingFor('$1')} and exists (
        select 1 from deliveries d
         where d.webhook_id = c.webhook_id and d.status = 'SUCCEEDED' and d.delivery_id >= uuid_floor(c.failing_since))`,
    [days],
  );
  const rows = await tx.query<{ webhook_id: string }>(
    'lock-hopeless',
    `select webhook_id from circuits join webhooks using (webhook_id)
      where ${failingFor('$1')} and status = 'ACTIVE' and deleted_at is null
      order by webhook_id for update of circuits`,
    [days],
  );
  return rows.map((row) => row.webhook_id);
}
