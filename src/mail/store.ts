import type { Database } from '../platform/database/postgres.js';
import { newId } from '../platform/ids.js';

export type MailKind = 'PASSWORD_LINK' | 'WELCOME' | 'CONFIRM_ADDRESS' | 'NOTICE' | 'SUMMARY';

export interface OwedMail {
  mailId: string;
  kind: MailKind;
  /** Null while nobody has looked whether the user that was asked for exists. */
  userId: string | null;
  /** Null if it is a user's. */
  shipperId: string | null;
  /** Null unless it is about one. */
  webhookId: string | null;
  parameters: object;
  /** This one included. */
  attempts: number;
}

/** An attempt ends long before. After a kill -9 the mail is tried again once this has passed. */
const leaseMs = 60_000;
const giveUpAfterMs = 86_400_000;

/** Call it in the transaction of what causes the mail. Strangers cause no more while `maxOwed` are owed. */
export async function oweMail(
  tx: Database,
  mail: { kind: MailKind; userId?: string; shipperId?: string; webhookId?: string; parameters?: object },
  maxOwed: number | null = null,
): Promise<void> {
  await tx.query(
    'owe-mail',
    `insert into mails (mail_id, kind, user_id, parameters, shipper_id, webhook_id)
     select $1::uuid, $2, $3::uuid, $4::jsonb, $6::uuid, $7::uuid
      where $5::int is null or not exists (select from mails where next_try_at is not null offset $5 limit 1)`,
    [
      newId(),
      mail.kind,
      mail.userId ?? null,
      JSON.stringify(mail.parameters ?? {}),
      maxOwed,
      mail.shipperId ?? null,
      mail.webhookId ?? null,
    ],
  );
}

/** Those that are due, longest first; nobody else gets them while the lease runs. */
export const claimMails = (db: Database, limit: number): Promise<OwedMail[]> =>
  db.query<OwedMail>(
    'claim-mails',
    `with due as materialized (
       select mail_id from mails where next_try_at <= now() order by next_try_at limit $1 for update skip locked
     )
     update mails m set next_try_at = now() + make_interval(secs => $2::float8 / 1000), attempts = attempts + 1
       from due where m.mail_id = any(array[due.mail_id])
     returning m.mail_id as "mailId", kind, user_id as "userId", shipper_id as "shipperId", webhook_id as "webhookId",
               parameters, attempts`,
    [limit, leaseMs],
  );

/** Returns whether the user is its recipient now: it has had less than `maxPerHour` of the kind. Lock the user first. */
export async function addressMail(
  tx: Database,
  { mailId, kind }: OwedMail,
  userId: string,
  maxPerHour: number,
): Promise<boolean> {
  const rows = await tx.query(
    'address-mail',
    `update mails set user_id = $2, parameters = '{}'
      where mail_id = $1 and not exists (
        select from mails where user_id = $2 and kind = $3 and created_at > now() - interval '1 hour' offset $4 limit 1)
     returning 1`,
    [mailId, userId, kind, maxPerHour - 1],
  );
  return rows.length > 0;
}

/** Nobody is to get it. */
export async function dropMail(db: Database, { mailId }: OwedMail): Promise<void> {
  await db.query('drop-mail', 'delete from mails where mail_id = $1', [mailId]);
}

/** `retryMs` null: it has ended. Returns whether it will be tried again. Nothing happens if the lease is another's. */
export async function settleMail(
  db: Database,
  { mailId, attempts }: OwedMail,
  retryMs: number | null,
): Promise<boolean> {
  const rows = await db.query<{ isOwed: boolean }>(
    'settle-mail',
    `update mails
        set next_try_at = case when created_at + make_interval(secs => $4::float8 / 1000)
                               > now() + make_interval(secs => $3::float8 / 1000)
                          then now() + make_interval(secs => $3::float8 / 1000) end
      where mail_id = $1 and attempts = $2
     returning next_try_at is not null as "isOwed"`,
    [mailId, attempts, retryMs, giveUpAfterMs],
  );
  return rows[0]?.isOwed ?? false;
}

/** The age of the oldest mail that is owed; 0 if none is. */
export async function readOldestMail(db: Database): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(
    'oldest-mail',
    `select coalesce(extract(epoch from now() - (
       select created_at from mails where next_try_at is not null order by created_at limit 1)), 0)::float8 as seconds`,
  );
  return row!.seconds;
}

/** Those that ended are kept while they count for their user; those that nobody sends any more go a little later. */
export async function deleteOldMails(db: Database): Promise<void> {
  await db.query(
    'delete-old-mails',
    `delete from mails
      where next_try_at is null and created_at < now() - interval '1 hour'
         or created_at < now() - make_interval(secs => $1::float8 / 1000)`,
    [giveUpAfterMs + 3_600_000],
  );
}
