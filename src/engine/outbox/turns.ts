import type { Database, Queries } from '../../platform/database/postgres.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import { distinctDue, dueSinceUnknown, turnRows, type Claim, type Due, type Turn } from './types.js';
import {
  blocker,
  isProbed,
  sameDelivery,
  erasedEvents,
  insertAttempts,
  insertCounts,
  insertIntoLog,
  laterFinished,
  laterOwed,
  ms,
  noOutcome,
  owedOf,
  takeOut,
} from './sql.js';
import { rowSet } from '../../platform/database/parameters.js';
import { lowestId } from '../../platform/ids.js';

/** `scheduled_at` of row `o` when it begins to wait: a retry keeps its due time. */
const scheduledWhileWaiting = `case when o.trigger <> 'REPLAY' and o.due_at > now() then o.due_at else o.scheduled_at end`;

/** When row `o` is due once it is released: at once if a replay has brought it forward. */
const dueOnceReleased = `case when o.trigger = 'REPLAY' then now() else greatest(now(), o.scheduled_at) end`;

/** `scheduled_at` of row `o` once it is released. Only a replay keeps the time, as it may be cancelled. */
const scheduledOnceReleased = `case when o.trigger = 'REPLAY' then o.scheduled_at end`;

const ruleOf = (webhookId: string) =>
  `select ordering, called_since, ${isProbed('webhooks')} as probed from webhooks where webhook_id = ${webhookId} limit 1`;

const releaseText = `
  with unblocked as materialized (
    select n.shipper_id, n.delivery_id
      from ${turnRows.as('t')}
     cross join lateral (
       select shipper_id, delivery_id, webhook_id, shipment_id, sequence from outbox
        where webhook_id = t.webhook_id and shipment_id = t.shipment_id and waits_turn
        order by sequence limit 1) n
     cross join lateral (${ruleOf('n.webhook_id')}) w
     where w.ordering = 'NONE' or not exists (${blocker('n', '$3')})
  ), next as materialized (
    select n.shipper_id, n.delivery_id
      from unblocked u
     cross join lateral (
       select shipper_id, delivery_id from outbox
        where shipper_id = u.shipper_id and delivery_id = u.delivery_id and waits_turn
        limit 1 for no key update skip locked) n
  )
  update outbox o set waits_turn = false, due_at = ${dueOnceReleased}, scheduled_at = ${scheduledOnceReleased} from next n
   where ${sameDelivery('o', 'n')} and o.waits_turn
  returning o.webhook_id as "webhookId", o.due_at as "dueAt"`;

/**
 * Call it after a commit that may have unblocked a state, and after one that made a state wait: a statement sees only
 * what was committed before it began, so either may have missed the other. It locks only released rows, so as not to
 * delay the settling of a blocker. A retry keeps its time.
 */
export async function releaseTurns(db: Queries, turns: Turn[], holdMs: number): Promise<Due[]> {
  const rows = await db.query<{ webhookId: string; dueAt: Date | null }>('release-turns', releaseText, [
    ...turnRows.arrays(turns),
    holdMs,
  ]);
  return distinctDue(
    rows.flatMap(({ webhookId, dueAt }) => (dueAt ? [{ webhookId, dueFromMs: dueAt.getTime() }] : [])),
  );
}

/** `turns` include those in `overtaken`. Call it after the commit. */
export async function supersedeAndRelease(
  db: Database,
  { overtaken, turns }: { overtaken: Overtaken[]; turns: Turn[] },
  { terminalStates, orderHoldMs }: { terminalStates: string[]; orderHoldMs: number },
): Promise<Due[]> {
  if (overtaken.length > 0) await supersede(db, overtaken, terminalStates);
  return turns.length > 0 ? releaseTurns(db, turns, orderHoldMs) : [];
}

export interface PassOnOptions {
  db: Database;
  logger: Logger;
  orderHoldMs: number;
  terminalStates: string[];
  notify(due: Due[]): void;
}

/** Call it after the commit. Never rejects: the sweeper finds what is missing. */
export async function passTurnsOn(
  { db, logger, notify, ...options }: PassOnOptions,
  overtaken: Overtaken[],
  others: Turn[],
): Promise<void> {
  const turns = distinctTurns([...overtaken, ...others]);
  if (turns.length === 0) return;
  try {
    notify(await supersedeAndRelease(db, { overtaken: distinctTurns(overtaken), turns }, options));
  } catch (error) {
    logger.warn({ error: describeError(error) }, 'turns not released; left to the sweeper');
    notify(webhooksOf(turns)); // they may be released, and only the response lost
  }
}

/** The turns of those claims whose webhook gets a shipment's states in order. */
export const turnsOf = (claims: Claim[]): Overtaken[] =>
  claims.flatMap(({ ordered, supersedes, webhookId, shipmentId }) =>
    (ordered || supersedes) && shipmentId !== null ? [{ webhookId, shipmentId, before: null }] : [],
  );

export const webhooksOf = (turns: Turn[]): Due[] => dueSinceUnknown(turns.map(({ webhookId }) => webhookId));

/** Deliveries that are being sent do not wait. Call `releaseTurns` after the commit. */
export async function makeTurnsWait(db: Database, turns: Turn[], holdMs: number): Promise<void> {
  await db.query(
    'make-turns-wait',
    `with held as materialized (
       select o.shipper_id, o.delivery_id
         from ${turnRows.as('t')}
        cross join lateral (${ruleOf('t.webhook_id')}) w
        cross join lateral (
          select n.shipper_id, n.delivery_id from outbox n
           where n.webhook_id = t.webhook_id and n.shipment_id = t.shipment_id and w.ordering = 'SHIPMENT'
             and not n.waits_turn and n.status <> 'SENDING' and exists (${blocker('n', '$3')})
           order by n.sequence for no key update of n skip locked) o
     )
     update outbox o set waits_turn = true, due_at = null, scheduled_at = ${scheduledWhileWaiting} from held h
      where ${sameDelivery('o', 'h')}`,
    [...turnRows.arrays(turns), holdMs],
  );
}

export interface ReorderDependencies {
  db: Database;
  logger: Logger;
  orderHoldMs: number;
  /** Resolves when no attempt that was claimed before the call can start any more. */
  onStopped(): Promise<void>;
  notify(due: Due[]): void;
}

/**
 * Call it after the webhook's `ordering` has changed. It resolves when no attempt claimed under the old ordering can
 * start any more and turns have been recomputed again: deliveries recorded meanwhile may have followed the old
 * ordering.
 */
export async function reorderDeliveries(deps: ReorderDependencies, webhookId: string): Promise<void> {
  const recompute = () =>
    recomputeTurns(deps.db, webhookId, deps.orderHoldMs).catch((error: unknown) =>
      deps.logger.warn(
        { webhookId, error: describeError(error) },
        'turns not recomputed; the sweep releases those that are due',
      ),
    );
  await recompute();
  await deps.onStopped();
  await recompute();
  deps.notify(dueSinceUnknown([webhookId]));
}

/**
 * Deliveries being sent are left. It works page by page, because a backlog may have a million rows. Rows that begin to
 * wait are checked again after the commit: their blockers may have been settled meanwhile.
 */
export async function recomputeTurns(db: Database, webhookId: string, holdMs: number): Promise<void> {
  let last: ShipmentState | null = { shipmentId: lowestId, sequence: 0 };
  while (last) {
    const page: RecomputedPage = await recomputePage(db, webhookId, last, holdMs);
    const turns = distinctTurns(page.waiting.map((shipmentId) => ({ webhookId, shipmentId })));
    if (turns.length > 0) await releaseTurns(db, turns, holdMs).catch(() => undefined); // left to the sweeper
    last = page.last;
  }
}

interface ShipmentState {
  shipmentId: string;
  sequence: number;
}

interface RecomputedPage {
  /** Null after the last page. */
  last: ShipmentState | null;
  waiting: string[];
}

const rowsPerPage = 5_000;

async function recomputePage(
  db: Database,
  webhookId: string,
  after: ShipmentState,
  holdMs: number,
): Promise<RecomputedPage> {
  const [row] = await db.query<{ last: ShipmentState | null; waiting: string[] }>(
    'recompute-turns',
    `with w as materialized (${ruleOf('$1::uuid')}), page as materialized (
       select shipper_id, delivery_id, shipment_id, sequence from outbox
        where webhook_id = $1 and (shipment_id, sequence) > ($2::uuid, $3::int)
        order by shipment_id, sequence limit $4
     ), looked as materialized (
       select o.* from page p cross join lateral (
         select o.shipper_id, o.delivery_id, o.waits_turn as waited, w.ordering = 'SHIPMENT' and exists (${blocker('o', '$5')}) as waits_turn
           from outbox o cross join w
          where o.shipper_id = p.shipper_id and o.delivery_id = p.delivery_id and o.status <> 'SENDING'
          limit 1) o
        where o.waited <> o.waits_turn
     ), changing as materialized (
       select l.shipper_id, l.delivery_id, l.waits_turn from looked l cross join lateral (
         select 1 from outbox o
          where o.shipper_id = l.shipper_id and o.delivery_id = l.delivery_id and o.status <> 'SENDING'
          limit 1 for no key update skip locked) o
     ), remade as (
       update outbox o
          set waits_turn = l.waits_turn, due_at = case when l.waits_turn then null else ${dueOnceReleased} end,
              scheduled_at = case when l.waits_turn then ${scheduledWhileWaiting} else ${scheduledOnceReleased} end
         from changing l
        where ${sameDelivery('o', 'l')} and o.waits_turn <> l.waits_turn
       returning o.shipment_id, o.waits_turn
     )
     select (select json_build_object('shipmentId', shipment_id, 'sequence', sequence)
               from page where (select count(*) from page) = $4 order by shipment_id desc, sequence desc limit 1) as last,
            array(select distinct shipment_id from remade where waits_turn) as waiting`,
    [webhookId, after.shipmentId, after.sequence, rowsPerPage, holdMs],
  );
  return row!;
}

/** Sorted into the order in which rows are locked. */
export function distinctTurns<T extends Turn>(turns: T[]): T[] {
  const byKey = new Map(turns.map((turn) => [`${turn.webhookId} ${turn.shipmentId}`, turn]));
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, turn]) => turn);
}

/** `page` selects and locks the keys. `also` adds parts, which can read the removed rows as `gone`. */
async function cancel(
  db: Database,
  name: string,
  { page, reason, also = [] }: { page: string; reason: string; also?: string[] },
  parameters: unknown[],
): Promise<number> {
  const rows = await db.query(
    name,
    `with ${[`page as materialized (${page})`, `gone as (${takeOut('page')})`, ...also].join(', ')}
     ${insertIntoLog(`select shipper_id, delivery_id, event_id, webhook_id, state, 'CANCELLED', '${reason}', attempt_count,
                             now(), null, null, ${noOutcome} from gone`)}
     returning delivery_id`,
    parameters,
  );
  return rows.length;
}

/** Deliveries being sent are left. Returns the number cancelled. */
export const cancelOwed = (db: Database, webhookId: string, limit: number): Promise<number> =>
  cancel(
    db,
    'cancel-owed',
    {
      page: `select shipper_id, delivery_id from outbox
              where webhook_id = $1 and status <> 'SENDING'
                and exists (select 1 from webhooks where webhook_id = $1 and deleted_at is not null)
              order by webhook_id, shipment_id, sequence limit $2 for update skip locked`,
      reason: 'WEBHOOK_DELETED',
    },
    [webhookId, limit],
  );

export const cancelExpired = (db: Database, retentionMs: number, limit: number): Promise<number> =>
  cancel(
    db,
    'cancel-expired',
    {
      page: `select shipper_id, delivery_id from outbox
              where delivery_id < uuid_floor(now() - ${ms('$1')}) and status <> 'SENDING'
              order by shipper_id, delivery_id limit $2 for update skip locked`,
      reason: 'EXPIRED',
    },
    [retentionMs, limit],
  );

/** Cancels even deliveries being sent: their outcome is refused, so no response is stored. Locked rows are skipped. */
export async function cancelErased(
  db: Database,
  shipmentIds: string[],
  { leaseMs, byHand }: { leaseMs: number; byHand: string[] },
): Promise<void> {
  const underWay = `from gone where status = 'SENDING'`;
  const startedAt = `least(lease_until - ${ms('$2')}, now())`;
  await cancel(
    db,
    'cancel-erased',
    {
      page: `select o.* from ${erasedEvents} cross join lateral (${owedOf('e')} for update skip locked) o`,
      reason: 'ERASED',
      also: [
        `lost as (${insertAttempts(
          `select shipper_id, delivery_id, attempt_count,
                  case when delivery_id = any($3::uuid[]) then 'MANUAL' else trigger end,
                  ${startedAt}, ${noOutcome} ${underWay}`,
        )})`,
        `counted as (${insertCounts(
          `select webhook_id, ${startedAt} as started_at, trigger, false as succeeded, null::int as duration_ms ${underWay}`,
        )})`,
      ],
    },
    [shipmentIds, leaseMs, byHand],
  );
}

/** All states before sequence `before` are cancelled, even replayed ones. */
export interface Overtaken extends Turn {
  before: number | null;
}

const overtakenRows = rowSet<Overtaken>({
  webhook_id: ['uuid', ({ webhookId }) => webhookId],
  shipment_id: ['uuid', ({ shipmentId }) => shipmentId],
  before: ['int', ({ before }) => before],
});

/** Terminal states and deliveries being sent are left. The later states may then go: call `releaseTurns` next. */
export async function supersede(db: Database, turns: Overtaken[], terminalStates: string[]): Promise<void> {
  await cancel(
    db,
    'supersede',
    {
      page: `select e.shipper_id, e.delivery_id
               from ${overtakenRows.as('t')}
              cross join lateral (select 1 from webhooks where webhook_id = t.webhook_id and supersede limit 1) w
              cross join lateral (
                select e.shipper_id, e.delivery_id from outbox e
                 where e.webhook_id = t.webhook_id and e.shipment_id = t.shipment_id
                   and e.status <> 'SENDING' and e.state <> all($4::text[])
                   and (e.sequence < t.before or ${laterOwed('e')} or ${laterFinished('e')})
                 order by e.sequence for update of e skip locked) e`,
      reason: 'SUPERSEDED',
    },
    [...overtakenRows.arrays(turns), terminalStates],
  );
}

/** Owed deliveries of a removed shipper are deleted, not cancelled: the log keeps nothing of it. */
export const owedToRemove = ({
  shipperId,
  after,
  limit,
}: Record<'shipperId' | 'after' | 'limit', string>) => `
  select shipper_id, delivery_id from outbox
   where shipper_id = ${shipperId} and delivery_id > ${after} order by delivery_id limit ${limit} for update skip locked`;
