import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '../../platform/batch.js';
import type { Database } from '../../platform/database/postgres.js';
import { rowSet } from '../../platform/database/parameters.js';
import { ownClaim } from '../outbox/claim.js';
import { isActive } from '../outbox/sql.js';
import type { Durations } from '../../platform/durations.js';
import type { Claim } from '../outbox/types.js';

/** Stopping a webhook relies on this. All times are by performance.now(). */
export interface Starts {
  /** An attempt may start until then, if the statement that claimed it was issued at `issuedAt`. */
  untilMs(issuedAt: number): number;
  /**
   * For an attempt that is later than that, right before its request is written: connecting may have taken long.
   * PostgreSQL is asked whether its webhook and its shipment are unchanged and it still owns its delivery, which it does
   * not if another process claimed that or its replay was cancelled. Resolves with until when it may start; null: not
   * any more.
   */
  mayStart(claim: Claim): Promise<number | null>;
}

export function createStarts(
  db: Database,
  { maxStartMs, leaseMs }: Pick<Durations, 'maxStartMs' | 'leaseMs'>,
): Starts {
  // Until then no request that stops its webhook has been responded to (`untilNoSendCanStart`).
  const untilMs = (issuedAt: number) => issuedAt + maxStartMs;
  const checks = createBatcher<Claim, number | null>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    flush: async (claims) => {
      const checkedAt = performance.now();
      const unchanged = await findUnchanged(db, claims, leaseMs / 4);
      return unchanged.map((isUnchanged) => (isUnchanged ? untilMs(checkedAt) : null)); // valid as long as a claim
    },
  });
  return { untilMs, mayStart: (claim) => checks.add(claim).catch(() => null) };
}

/**
 * Resolves when no attempt of a stopped webhook can start any more (docs/faults.md, I5). Call it after the commit that
 * stopped it. A statement that began before may still commit claims, but these start within `maxStartMs` of the issue
 * of their statement or only after PostgreSQL is asked. So this waits that long.
 */
export async function untilNoSendCanStart({
  maxStartMs,
  startMarginMs,
}: Pick<Durations, 'maxStartMs' | 'startMarginMs'>): Promise<void> {
  const endsAt = performance.now() + maxStartMs + startMarginMs;
  // A timer counts from the start of its event-loop tick, which may be long ago.
  for (let leftMs = endsAt - performance.now(); leftMs > 0; leftMs = endsAt - performance.now())
    await sleep(leftMs);
}

const claimRows = rowSet<Claim>({
  webhook_id: ['uuid', ({ webhookId }) => webhookId],
  revision: ['int', ({ revision }) => revision],
  trigger: ['text', ({ trigger }) => trigger],
  shipment_id: ['uuid', ({ shipmentId }) => shipmentId],
  erased: ['bool', ({ erased }) => erased],
  shipper_id: ['uuid', ({ shipperId }) => shipperId],
  delivery_id: ['uuid', ({ deliveryId }) => deliveryId],
  number: ['int', ({ number }) => number],
});

/**
 * Attempts by hand also go to webhooks that are not active, but not to those of a suspended shipper. A redelivery is
 * claimed in `redeliveries`, because a finished delivery is not in the outbox. The lease must last until it is renewed:
 * the claiming statement may have used up most of it.
 */
async function findUnchanged(db: Database, claims: Claim[], leaseLeftMs: number): Promise<boolean[]> {
  const rows = await db.query<{ unchanged: boolean }>(
    'find-unchanged',
    `select coalesce(w.may_be_called and (t.erased or p.erased_at is null) and
                       (case when t.trigger = 'MANUAL' then r.is_ours else o.is_ours end), false) as unchanged
       from ${claimRows.as('t', 2, 'n')}
       left join lateral (
         select revision = t.revision and deleted_at is null and not suspended
                and (t.trigger in ('MANUAL', 'TEST') or ${isActive('webhooks')}) as may_be_called
           from webhooks where webhook_id = t.webhook_id limit 1) w on true
       left join lateral (
         select erased_at from shipment_progress where shipment_id = t.shipment_id limit 1) p on true
       left join lateral (${ownClaim('t', '$1')}) o on true
       left join lateral (
         select lease_until is not null and number = t.number as is_ours from redeliveries
          where delivery_id = t.delivery_id limit 1) r on true
      order by t.n`,
    [leaseLeftMs, ...claimRows.arrays(claims)],
  );
  return rows.map(({ unchanged }) => unchanged);
}
