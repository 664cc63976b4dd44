import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../platform/database/postgres.js';
import type { PrincipalCache } from '../principal-cache.js';
import type { TokenClaims, VerifiedClaims } from '../tokens.js';
import { endSession, lockUser } from '../users.js';
import type { ShipperCredentials } from './authenticate.js';

export interface ListedSession {
  sessionId: string;
  browser: string;
  startedAt: Date;
  lastUsedAt: Date;
  endsAt: Date;
}

/** One more log-in ends the oldest of them. */
const sessionsPerUser = 50;

const noteEveryMs = 5 * 60_000;
/** Two processes, one of which has just found the other's note, leave a session unnoted for this long. */
const slackSeconds = (2 * noteEveryMs) / 1_000;

interface BeginDependencies extends Pick<ShipperCredentials, 'sessions' | 'cookie'> {
  db: Database;
  principals: PrincipalCache;
}

/** Begins a session in the browser that asks, and gives it the cookie. */
export async function beginSession(
  { db, sessions, cookie, principals }: BeginDependencies,
  request: Request,
  response: Response,
  claims: TokenClaims,
): Promise<VerifiedClaims> {
  const token = await sessions.issue(claims);
  const verified = (await sessions.verify(token))!;
  const hasEnded = await insertSession(db, verified, browserOf(request.get('user-agent') ?? ''));
  if (hasEnded) principals.clear();
  cookie.set(response, token, sessions.lifetimeSeconds);
  return verified;
}

/** Returns whether that has ended older ones. */
const insertSession = (
  db: Database,
  { userId, userEpoch, session, expiresAtMs }: VerifiedClaims,
  browser: string,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    if (!(await lockUser(tx, userId))) return false;
    const { sessionId, startedAtMs, lastsUntilMs } = session!;
    await tx.query(
      'insert-session',
      `insert into sessions (session_id, user_id, user_epoch, browser, started_at, expires_at, ends_at)
       values ($1, $2, $3, $4, $5, $6::timestamptz + make_interval(secs => $8), $7)`,
      [
        sessionId,
        userId,
        userEpoch,
        browser,
        ...[startedAtMs, expiresAtMs, lastsUntilMs].map((ms) => new Date(ms)),
        slackSeconds,
      ],
    );
    const tooMany = (await listSessions(tx, userId)).slice(sessionsPerUser);
    for (const one of tooMany) await endSession(tx, { userId, expiresAt: one.endsAt, ...one });
    return tooMany.length > 0;
  });

/** Those that may be valid, the newest first. */
export const listSessions = (db: Database, userId: string): Promise<ListedSession[]> =>
  db.query<ListedSession>(
    'list-sessions',
    `select session_id as "sessionId", browser, started_at as "startedAt", last_used_at as "lastUsedAt",
            ends_at as "endsAt"
       from sessions
      where user_id = $1 and user_epoch = (select epoch from users where user_id = $1)
        and least(expires_at, ends_at) > now()
      order by started_at desc, session_id desc`,
    [userId],
  );

/** False if the user has no such session. */
export async function endListedSession(tx: Database, userId: string, sessionId: string): Promise<boolean> {
  if (!(await lockUser(tx, userId))) return false;
  const found = (await listSessions(tx, userId)).find((one) => one.sessionId === sessionId);
  if (found) await endSession(tx, { userId, sessionId, expiresAt: found.endsAt });
  return found !== undefined;
}

/** Returns what notes that a session is used: every few minutes, and without making its caller wait. */
export function createNoteUse(db: Database, { lifetimeSeconds }: ShipperCredentials['sessions']) {
  const noted = new LRUCache<string, true>({ max: 10_000, ttl: noteEveryMs });
  return (sessionId: string): void => {
    if (noted.has(sessionId)) return;
    noted.set(sessionId, true);
    db.query(
      'note-use-of-session',
      `update sessions
          set last_used_at = now(), expires_at = greatest(expires_at, now() + make_interval(secs => $2))
        where session_id = $1 and last_used_at < now() - make_interval(secs => $3)`,
      [sessionId, lifetimeSeconds + slackSeconds, noteEveryMs / 1_000],
    ).catch(() => noted.delete(sessionId)); // the next request tries again
  };
}

export const forgetSessions = (db: Database): Promise<unknown> =>
  db.query('forget-sessions', 'delete from sessions where least(expires_at, ends_at) < now()');

/** The order matters: most browsers also name those that they resemble. */
const browsers = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|OPT|Opera)\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;
const systems = [
  [/\biPad\b/, 'iPad'],
  [/\biPhone\b/, 'iPhone'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac(intosh| OS X)\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

/** `Chrome on Linux`; another program by the first word of its `User-Agent`, such as `curl`. */
export function browserOf(userAgent: string): string {
  const start = userAgent.slice(0, 500);
  const nameIn = (known: readonly (readonly [RegExp, string])[]) =>
    known.find(([pattern]) => pattern.test(start))?.[1];
  const other = /^(?!Mozilla\b)[\w.-]{1,40}/.exec(start)?.[0] ?? 'Unknown browser';
  const system = nameIn(systems);
  return `${nameIn(browsers) ?? other}${system ? ` on ${system}` : ''}`;
}
