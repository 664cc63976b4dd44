import type { Database } from '../platform/database/postgres.js';

/** More are not remembered one by one: then the user's other sessions and tokens end, too. */
const endedPerUser = 1_000;

/** Nothing happens if the user is removed. */
export async function endSession(
  db: Database,
  { userId, sessionId, expiresAt }: { userId: string; sessionId: string; expiresAt: Date },
): Promise<void> {
  await db.query(
    'end-session',
    `with present as materialized (
       select user_id from users where user_id = $1 for no key update
     ), full_up as materialized (
       select 1 from ended_sessions where user_id = $1 offset $4 limit 1
     ), forgotten as (
       delete from ended_sessions where user_id = $1 and exists (select from full_up)
     ), ended as (
       insert into ended_sessions (user_id, session_id, expires_at)
       select user_id, $2, $3 from present where not exists (select from full_up)
       on conflict do nothing
     )
     update users set epoch = epoch + 1 where user_id = $1 and exists (select from full_up)`,
    [userId, sessionId, expiresAt, endedPerUser - 1],
  );
}

/** Forgets sessions that have expired by any clock: each process asks its own whether a token has. */
export async function forgetEndedSessions(db: Database): Promise<void> {
  await db.query(
    'forget-ended-sessions',
    "delete from ended_sessions where expires_at < now() - interval '1 hour'",
  );
}
