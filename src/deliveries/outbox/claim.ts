import type { Database } from '../../platform/database/postgres.js';
import {
  atRest,
  claimColumns,
  claimed,
  isActive,
  isTroubled,
  isWithdrawn,
  ms,
  ofRecentEvent,
  recentMonths,
  sameDelivery,
} from './sql.js';
import type { Claim, DueClaim } from './types.js';

/** A webhook whose lane has room, and from which moment on it is worth looking; null: from the beginning. */
export interface Wanted {
  webhookId: string;
  room: number;
  since: Date | null;
}

/**
 * Claims what is due of each webhook, the longest due first, as far as there is room: one statement for all, waiting
 * for nobody. Left out are webhooks that are not active or have an open circuit, and what a cancelled replay owed. A
 * claim counts the attempt and leases it; it changes nothing that an index mentions.
 */
export function pullDue(db: Database, wanted: Wanted[], leaseMs: number): Promise<DueClaim[]> {
  const months = recentMonths(Date.now());
  return db.query<DueClaim>(
    `pull-due@${months.name}`,
    `with picked as materialized (
       select o.shipper_id, o.delivery_id, w.revision, w.ordering, w.supersede, ${isTroubled('c')} as troubled
         from unnest($1::uuid[], $2::int[], $3::timestamptz[]) as t (webhook_id, room, since)
        cross join lateral (
          select revision, ordering, supersede from webhooks
           where webhook_id = t.webhook_id and ${isActive('webhooks')} limit 1) w
         left join lateral (
           select open_until, failing_since from circuits where webhook_id = t.webhook_id limit 1) c on true
        cross join lateral (
          select shipper_id, delivery_id from outbox
           where webhook_id = t.webhook_id and due_at <= now() and due_at >= coalesce(t.since, '-infinity')
             and status <> 'SENDING' and not ${isWithdrawn('outbox')}
           order by due_at limit t.room for no key update skip locked) o
        where c.open_until is null
     ), o as (
       update outbox o set ${claimed('$4')}
         from picked p where ${sameDelivery('o', 'p')}
       returning o.*, p.revision, p.ordering, p.supersede, p.troubled
     )
     select ${claimColumns}, o.due_at as "dueAt", false as "isProbe" from o ${ofRecentEvent(months)}`,
    [
      wanted.map(({ webhookId }) => webhookId),
      wanted.map(({ room }) => room),
      wanted.map(({ since }) => since),
      leaseMs,
    ],
  );
}

const probesAtOnce = 500;

/**
 * Claims one delivery of each open circuit whose wait is over, as its probe: of those that are due longest, one that
 * was tried least, because a receiver may be back and refuse the same delivery for ever. The circuits that have waited
 * longest come first.
 */
export function claimProbes(db: Database, leaseMs: number, probeMs: number): Promise<DueClaim[]> {
  const months = recentMonths(Date.now());
  return db.query<DueClaim>(
    `claim-probes@${months.name}`,
    `with ripe as materialized (
       select c.webhook_id from circuits c join webhooks w using (webhook_id)
        where c.open_until <= now() and (c.probe_until is null or c.probe_until < now())
          and ${isActive('w')}
        order by c.open_until limit ${probesAtOnce} for update of c skip locked
     ), picked as materialized (
       select o.shipper_id, o.delivery_id, o.webhook_id, w.revision, w.ordering, w.supersede, true as troubled
         from ripe
        cross join lateral (select * from webhooks where webhook_id = ripe.webhook_id limit 1) w
        cross join lateral (
          select shipper_id, delivery_id from (
            select shipper_id, delivery_id, attempt_count, due_at from outbox
             where webhook_id = ripe.webhook_id and due_at <= now() and status <> 'SENDING' and not ${isWithdrawn('outbox')}
             order by due_at limit 50) longest_due
           order by attempt_count, due_at limit 1) least_tried
        cross join lateral (
          select shipper_id, delivery_id, webhook_id from outbox
           where shipper_id = least_tried.shipper_id and delivery_id = least_tried.delivery_id
             and due_at <= now() and status <> 'SENDING' and not ${isWithdrawn('outbox')}
           limit 1 for no key update skip locked) o
     ), probing as (
       update circuits set probe_until = now() + ${ms('$2')}
        where webhook_id = any(array(select webhook_id from picked))
     ), o as (
       update outbox o set ${claimed('$1')}
         from picked p where ${sameDelivery('o', 'p')}
       returning o.*, p.revision, p.ordering, p.supersede, p.troubled
     )
     select ${claimColumns}, o.due_at as "dueAt", true as "isProbe" from o ${ofRecentEvent(months)}`,
    [leaseMs, probeMs],
  );
}

const keysOf = (claims: Claim[]) => [
  claims.map(({ shipperId }) => shipperId),
  claims.map(({ deliveryId }) => deliveryId),
  claims.map(({ number }) => number),
];

/** The rows of some claims that still are claimed by them, as `held`: locked, unless somebody else has locked them. */
const held = `select o.shipper_id, o.delivery_id
  from unnest($1::uuid[], $2::uuid[], $3::int[]) as t (shipper_id, delivery_id, number)
 cross join lateral (
   select shipper_id, delivery_id from outbox
    where shipper_id = t.shipper_id and delivery_id = t.delivery_id and status = 'SENDING' and attempt_count = t.number
    limit 1 for no key update skip locked) o`;

/**
 * Gives claims back that were not sent: the attempt does not count. Resolves with those that were not given back: their
 * rows were locked, for instance by a renewal of their leases, or they are no claims any more.
 */
export async function giveBack<Some extends Claim>(db: Database, claims: Some[]): Promise<Some[]> {
  const rows = await db.query<{ deliveryId: string }>(
    'give-back',
    `with held as materialized (${held})
     update outbox o set ${atRest}, attempt_count = o.attempt_count - 1
       from held where ${sameDelivery('o', 'held')}
     returning o.delivery_id as "deliveryId"`,
    keysOf(claims),
  );
  const given = new Set(rows.map(({ deliveryId }) => deliveryId));
  return claims.filter(({ deliveryId }) => !given.has(deliveryId));
}

/** Prolongs the leases of attempts under way. */
export async function renewLeases(db: Database, claims: Claim[], leaseMs: number): Promise<void> {
  await db.query(
    'renew-leases',
    `with held as materialized (${held})
     update outbox o set lease_until = now() + ${ms('$4')} from held where ${sameDelivery('o', 'held')}`,
    [...keysOf(claims), leaseMs],
  );
}

/**
 * To be joined to claim `t` (shipper_id, delivery_id, number). `is_ours` says whether that claim still has the row, for
 * at least `leaseLeftMs`, and the row's replay is not cancelled; it is null if the row is no longer in the outbox.
 */
export const ownClaim = (t: string, leaseLeftMs: string) => `
  select not ${isWithdrawn('outbox')} and status = 'SENDING' and attempt_count = ${t}.number
         and lease_until > now() + ${ms(leaseLeftMs)} as is_ours from outbox
   where shipper_id = ${t}.shipper_id and delivery_id = ${t}.delivery_id limit 1`;
