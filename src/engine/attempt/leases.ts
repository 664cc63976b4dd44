import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '../../platform/batch.js';
import { isInDoubt, type Database } from '../../platform/database/postgres.js';
import { describeError } from '../../platform/errors.js';
import { endProbes, giveBack, renewLeases, renewProbes, ownClaim } from '../outbox/claim.js';
import { giveRedeliveryBack, renewRedeliveries } from '../outbox/redelivery.js';
import type { DueClaim, Claim } from '../outbox/types.js';
import { passTurnsOn, turnsOf, type PassOnOptions } from '../outbox/turns.js';
import { retryWhileDatabaseDown } from '../settle/settler.js';
import type { Durations } from '../../platform/durations.js';
import type { InFlight } from '../schedule/lanes.js';
import { rowSet } from '../../platform/database/parameters.js';
import { isActive, ms } from '../outbox/sql.js';

export interface LeaseOptions extends PassOnOptions {
  leaseDb: Database;
  durations: Pick<Durations, 'leaseMs' | 'patienceMs'>;
  claims(): readonly InFlight[];
  isDraining(): boolean;
}

/** Pause before locked rows are tried again; they are locked only briefly. */
const retryPauseMs = 50;
const maxRetries = 2;

const isByHand = ({ trigger }: DueClaim) => trigger === 'MANUAL';

export function createLeases(options: LeaseOptions) {
  const { db, leaseDb, logger, isDraining } = options;
  const { leaseMs, patienceMs } = options.durations;

  const renew = () => {
    const now = performance.now();
    const old = options.claims().flatMap(({ claim, asOfMs }) => (now - asOfMs > leaseMs / 5 ? [claim] : []));
    if (old.length > 0) renewAll(old).catch(notRenewed);
  };
  const renewAll = async (claims: DueClaim[]) => {
    const byHand = claims.filter(isByHand);
    if (byHand.length > 0) await renewRedeliveries(leaseDb, byHand, leaseMs);
    await renewLeases(leaseDb, claims, leaseMs);
    const probed = claims.flatMap(({ isProbe, webhookId }) => (isProbe ? [webhookId] : []));
    if (probed.length > 0) await renewProbes(leaseDb, probed, leaseMs);
  };
  const notRenewed = (error: unknown) =>
    logger.warn({ error: describeError(error) }, 'leases not renewed; retrying');
  const renewal = setInterval(renew, leaseMs / 4);

  /**
   * Retried after an outage, but not if the statement may have run: the delivery's next claim has the same number and
   * would be taken from another process. A claim that is not given back waits for its lease to expire, and the log
   * shows an attempt that was never made.
   */
  const returns = createBatcher<DueClaim, Error | undefined>({
    maxItems: 200,
    concurrency: 1,
    maxWaiting: 10_000,
    // A failure is returned, not thrown: it must not reject the claims that wait for the next statement.
    flush: async (claims) => {
      const failure = await giveAllBack(claims).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      await skipOvertaken(claims);
      return claims.map(() => failure);
    },
  });

  const giveAllBack = async (claims: DueClaim[]): Promise<void> => {
    const mayRetry = (error: unknown) => !isDraining() && !isInDoubt(error);
    let left = claims.filter((claim) => !isByHand(claim));
    for (let again = 0; left.length > 0 && again <= maxRetries; again += 1) {
      if (again > 0) await sleep(retryPauseMs);
      left = await retryWhileDatabaseDown(() => giveBack(leaseDb, left), mayRetry, patienceMs);
    }
    let failure: unknown;
    for (const claim of claims.filter(isByHand))
      await retryWhileDatabaseDown(() => giveRedeliveryBack(db, claim), mayRetry, patienceMs).catch(
        (error: unknown) => (failure ??= error), // the others are still given back
      );
    const probed = claims.filter((claim) => claim.isProbe && !left.includes(claim));
    if (probed.length > 0)
      await endProbes(
        leaseDb,
        probed.map(({ webhookId }) => webhookId),
      );
    if (failure) throw failure as Error;
  };

  /** Later states recorded meanwhile did not cancel claimed ones, and releases may have missed those sent by hand. */
  const skipOvertaken = (claims: DueClaim[]) =>
    passTurnsOn(
      options,
      turnsOf(claims.filter(({ supersedes }) => supersedes)),
      turnsOf(claims.filter(isByHand)),
    );

  return {
    /** Rejects unless PostgreSQL confirms it. */
    giveBack: async (claim: DueClaim): Promise<void> => {
      const failure = await returns.add(claim);
      if (failure) throw failure;
    },
    stop: () => clearInterval(renewal),
  };
}

/** Stopping a webhook relies on this. All times are by performance.now(). */
export interface Starts {
  /** An attempt may start until then, if the statement that claimed it was issued at `issuedAt`. */
  untilMs(issuedAt: number): number;
  /**
   * Asks PostgreSQL about an attempt that is later than that, right before its request is written, because connecting
   * may have taken long: its webhook and its shipment must be unchanged, and it must still own its delivery, which it
   * does not if another process has claimed that or its replay was cancelled. Resolves with the time until which it may
   * start; null if it may not start any more.
   */
  mayStart(claim: Claim): Promise<number | null>;
}

export function createStarts(
  db: Database,
  { maxStartMs, leaseMs }: Pick<Durations, 'maxStartMs' | 'leaseMs'>,
): Starts {
  // No request that stops its webhook is responded to before then (`untilNoSendCanStart`).
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
         select number = t.number and lease_until > now() + ${ms('$1')} as is_ours from redeliveries
          where delivery_id = t.delivery_id limit 1) r on true
      order by t.n`,
    [leaseLeftMs, ...claimRows.arrays(claims)],
  );
  return rows.map(({ unchanged }) => unchanged);
}
