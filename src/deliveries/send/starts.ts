import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '../../platform/batch.js';
import type { Database } from '../../platform/database/postgres.js';
import { ownClaim } from '../outbox/claim.js';
import { isActive } from '../outbox/sql.js';
import type { Times } from '../times.js';
import type { Claim } from '../outbox/types.js';

/** When an attempt may begin. Whoever stops a webhook relies on it. Moments are of performance.now(). */
export interface Starts {
  /**
   * To be asked when nothing is left to do but to write the request: the connection may have taken long. True for a
   * claim that is young; of an older one PostgreSQL says whether its webhook and its shipment still are as they were,
   * and whether it still has its delivery: not if another has taken it up, or its replay was cancelled.
   */
  mayStart(claim: Claim, issuedAt: number): true | Promise<boolean>;
}

export function createStarts(
  db: Database,
  { longestStartMs, leaseMs }: Pick<Times, 'longestStartMs' | 'leaseMs'>,
): Starts {
  // So lately that nobody who has stopped its webhook was answered yet.
  const isSoon = (issuedAt: number) => performance.now() - issuedAt <= longestStartMs;
  const questions = createBatcher<Claim, boolean>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    flush: async (claims) => {
      const askedAt = performance.now();
      const unchanged = await findUnchanged(db, claims, leaseMs / 4);
      return unchanged.map((isUnchanged) => isUnchanged && isSoon(askedAt)); // as good as a claim, and for as long
    },
  });
  return {
    mayStart: (claim, issuedAt) => (isSoon(issuedAt) ? true : questions.add(claim).catch(() => false)),
  };
}

/**
 * Resolves when no attempt of a stopped webhook can start any more (faults, I5); call it after the commit that
 * stopped it. A statement that began before may still commit claims that nobody can see; but what is claimed starts
 * within `longestStartMs` of the issue of its statement, or PostgreSQL is asked again. So that time is waited out.
 */
export async function untilNoSendCanStart({
  longestStartMs,
  startMarginMs,
}: Pick<Times, 'longestStartMs' | 'startMarginMs'>): Promise<void> {
  const endsAt = performance.now() + longestStartMs + startMarginMs;
  // A timer counts from when its turn of the event loop began, which may be long ago.
  for (let leftMs = endsAt - performance.now(); leftMs > 0; leftMs = endsAt - performance.now())
    await sleep(leftMs);
}

/**
 * By hand a webhook is called that is not active, too, but none of a suspended shipper. An attempt asked for by hand is
 * claimed in `redeliveries`: what is finished is not in the outbox. A lease must last until it is renewed: the
 * statement that gave it may have taken most of it.
 */
async function findUnchanged(db: Database, claims: Claim[], leaseLeftMs: number): Promise<boolean[]> {
  const column = <Value>(value: (claim: Claim) => Value) => claims.map(value);
  const rows = await db.query<{ unchanged: boolean }>(
    'find-unchanged',
    `select coalesce(w.may_be_called and (t.erased or p.erased_at is null) and
                       (case when t.trigger = 'MANUAL' then r.is_ours else o.is_ours end), false) as unchanged
       from unnest($1::uuid[], $2::int[], $3::text[], $4::uuid[], $5::bool[], $6::uuid[], $7::uuid[], $8::int[])
            with ordinality as t (webhook_id, revision, trigger, shipment_id, erased, shipper_id, delivery_id, number, n)
       left join lateral (
         select revision = t.revision and deleted_at is null and not suspended
                and (t.trigger in ('MANUAL', 'TEST') or ${isActive('webhooks')}) as may_be_called
           from webhooks where webhook_id = t.webhook_id limit 1) w on true
       left join lateral (
         select erased_at from shipment_progress where shipment_id = t.shipment_id limit 1) p on true
       left join lateral (${ownClaim('t', '$9')}) o on true
       left join lateral (
         select lease_until is not null and number = t.number as is_ours from redeliveries
          where delivery_id = t.delivery_id limit 1) r on true
      order by t.n`,
    [
      column(({ webhookId }) => webhookId),
      column(({ revision }) => revision),
      column(({ trigger }) => trigger),
      column(({ shipmentId }) => shipmentId),
      column(({ erased }) => erased),
      column(({ shipperId }) => shipperId),
      column(({ deliveryId }) => deliveryId),
      column(({ number }) => number),
      leaseLeftMs,
    ],
  );
  return rows.map(({ unchanged }) => unchanged);
}
