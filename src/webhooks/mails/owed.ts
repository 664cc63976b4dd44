import { withoutQuerySql, type Notice } from '../../engine/engine.js';
import { oweMail } from '../../mail/store.js';
import { databaseNowMs } from '../../platform/clock.js';
import type { Database } from '../../platform/database/postgres.js';
import { newId } from '../../platform/ids.js';
import { mayBeMailed } from './addresses.js';

/** A mail says these of one notice. */
export interface Facts extends Omit<Notice, 'webhookId' | 'since' | 'disablesAt'> {
  since: string | null;
  disablesAt: string | null;
  at: string;
  /** Of the webhook at that time; the address is without its query. */
  address: string;
  name: string | null;
}

/** Call it in the transaction that records the notices. */
export async function oweNoticeMails(tx: Database, notices: Notice[]): Promise<void> {
  const at = new Date(databaseNowMs());
  await tx.query(
    'owe-notice-mails',
    `insert into notices_to_mail (notice_id, shipper_id, webhook_id, facts)
     select i.notice_id, w.shipper_id, w.webhook_id,
            i.facts::jsonb || jsonb_build_object('address', ${withoutQuerySql('w.target_address')}, 'name', w.name)
       from unnest($1::uuid[], $2::uuid[], $3::text[]) as i (notice_id, webhook_id, facts)
       join webhooks w using (webhook_id)
      where w.notify_email is not null and w.deleted_at is null`,
    [
      notices.map(() => newId(at.getTime())),
      notices.map(({ webhookId }) => webhookId),
      notices.map((notice) => JSON.stringify({ ...notice, at })),
    ],
  );
}

const maxPerDay = 20;
const maxShippersPerRun = 100;
const maxSummed = 20_000;
const maxListed = 20;

interface SummaryTimes {
  /** How long what is over the day's mails is collected. */
  gatherMs: number;
  /** Between two summaries of a shipper. */
  pauseMs: number;
}

const ago = (parameter: string) => `now() - make_interval(secs => ${parameter}::float8 / 1000)`;
const today = `(now() at time zone 'UTC')::date`;
/** Of the oldest notice, recorded at `at`, of the shipper with the budget `b`. $1: `gatherMs`, $2: `pauseMs`. */
const isSummaryDue = (at: string) =>
  `${at} < ${ago('$1')} and not coalesce(b.summed_at between ${ago('$2')} and now(), false)`;

/** Reads an index entry for each shipper. */
const shippersToMail = `
  with recursive found as (
    (select shipper_id, recorded_at from notices_to_mail order by shipper_id, recorded_at limit 1)
    union all
    select n.* from found s cross join lateral (
      select shipper_id, recorded_at from notices_to_mail where shipper_id > s.shipper_id
       order by shipper_id, recorded_at limit 1) n
  )
  select s.shipper_id as "shipperId" from found s left join mail_budgets b using (shipper_id)
   where b.shipper_id is null or b.day <> ${today} or b.sent < ${maxPerDay} or ${isSummaryDue('s.recorded_at')}
   limit ${maxShippersPerRun}`;

/**
 * Makes the notices to mails: a shipper's first of a day to one each, what is over to a summary for each address. It
 * drops what nobody may get.
 */
export async function mailNotices(db: Database, times: SummaryTimes): Promise<void> {
  const shippers = await db.query<{ shipperId: string }>('shippers-to-mail', shippersToMail, [
    times.gatherMs,
    times.pauseMs,
  ]);
  const results: PromiseSettledResult<void>[] = [];
  for (const { shipperId } of shippers) {
    const mailing = db.transaction((tx) => mailShipper(tx, shipperId, times));
    results.push(...(await Promise.allSettled([mailing]))); // if it fails, the others get theirs
  }
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

async function mailShipper(
  tx: Database,
  shipperId: string,
  { gatherMs, pauseMs }: SummaryTimes,
): Promise<void> {
  const [budget] = await tx.query<{ sent: number }>(
    'lock-mail-budget',
    `insert into mail_budgets as b (shipper_id, day, sent) values ($1, ${today}, 0)
     on conflict (shipper_id) do update
        set day = excluded.day, sent = case when b.day = excluded.day then b.sent else 0 end
     returning sent`,
    [shipperId],
  );
  await tx.query(
    'drop-notices-to-mail',
    `delete from notices_to_mail n where shipper_id = $1 and not exists (
       select from webhooks w
        where w.webhook_id = n.webhook_id and w.deleted_at is null and ${mayBeMailed('w.shipper_id', 'w.notify_email')})`,
    [shipperId],
  );
  const left = maxPerDay - budget!.sent;
  const taken = left > 0 ? await takeNotices(tx, shipperId, left) : [];
  for (const { webhookId, facts } of taken)
    await oweMail(tx, { kind: 'NOTICE', shipperId, webhookId, parameters: facts });
  const [summary] = await tx.query(
    'count-mails',
    `with b as (
       update mail_budgets set sent = sent + $4 where shipper_id = $3 returning *
     )
     select 1 from b cross join lateral (
       select recorded_at from notices_to_mail where shipper_id = $3 order by recorded_at limit 1) n
      where ${isSummaryDue('n.recorded_at')}`,
    [gatherMs, pauseMs, shipperId, taken.length],
  );
  if (summary) await sumUp(tx, shipperId);
}

interface Taken {
  webhookId: string;
  email: string;
  facts: Facts;
}

const takeNotices = (tx: Database, shipperId: string, limit: number): Promise<Taken[]> =>
  tx.query<Taken>(
    'take-notices-to-mail',
    `delete from notices_to_mail n using webhooks w
      where n.shipper_id = $1 and w.webhook_id = n.webhook_id and n.notice_id = any(array(
        select notice_id from notices_to_mail where shipper_id = $1 order by recorded_at, notice_id limit $2))
     returning n.webhook_id as "webhookId", lower(w.notify_email) as email, n.facts`,
    [shipperId, limit],
  );

/** A summary says these. */
export interface Summary {
  email: string;
  count: number;
  /** Of the first of them. */
  notices: { webhookId: string; state: Facts['state']; address: string; name: string | null }[];
}

async function sumUp(tx: Database, shipperId: string): Promise<void> {
  await tx.query('note-summary', 'update mail_budgets set summed_at = now() where shipper_id = $1', [
    shipperId,
  ]);
  const byAddress = new Map<string, Summary>();
  for (const { webhookId, email, facts } of await takeNotices(tx, shipperId, maxSummed)) {
    const summary = byAddress.get(email) ?? { email, count: 0, notices: [] };
    byAddress.set(email, summary);
    summary.count += 1;
    const { state, address, name } = facts;
    if (summary.notices.length < maxListed) summary.notices.push({ webhookId, state, address, name });
  }
  for (const summary of byAddress.values())
    await oweMail(tx, { kind: 'SUMMARY', shipperId, parameters: summary });
}
