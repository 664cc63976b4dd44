import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { endSession, forgetEndedSessions } from '../../../src/accounts/users.js';
import { forgetSessions } from '../../../src/accounts/login/sessions.js';
import { rememberOrigin } from '../../../src/accounts/users.js';
import { newId } from '../../../src/platform/ids.js';
import { type World, createWorld } from '../../support/core/world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const newUser = async (): Promise<string> => {
  const userId = newId();
  await world.sql('insert into users (user_id, shipper_id, email) values ($1, $2, $3)', [
    userId,
    world.shipperId,
    userId,
  ]);
  return userId;
};
const inAnHour = () => new Date(Date.now() + 3_600_000);
const ended = async (userId: string) => {
  const rows = await world.sql<{ id: string }>(
    'select session_id as id from ended_sessions where user_id = $1 order by session_id',
    [userId],
  );
  return rows.map(({ id }) => id);
};
const epochOf = async (userId: string) =>
  (await world.sql<{ epoch: number }>('select epoch from users where user_id = $1', [userId]))[0]?.epoch;

test('a session that was ended is forgotten an hour after its token has expired', async () => {
  const userId = await newUser();
  const [over, recent, running] = [newId(), newId(), newId()];
  await endSession(world.db, { userId, sessionId: over, expiresAt: new Date(Date.now() - 3_600_001) });
  // The clock of a process may be behind that of the database: to it this token still runs.
  await endSession(world.db, { userId, sessionId: recent, expiresAt: new Date(Date.now() - 60_000) });
  await endSession(world.db, { userId, sessionId: running, expiresAt: inAnHour() });
  await forgetEndedSessions(world.db);
  expect(await ended(userId)).toEqual([recent, running]);
});

test('a listed session is forgotten once its latest token has expired, or it has lasted long enough', async () => {
  const userId = await newUser();
  const [unused, over, running] = [newId(), newId(), newId()];
  for (const [sessionId, expiresIn, endsIn] of [
    [unused, '-1 minute', '1 hour'],
    [over, '1 minute', '-1 minute'],
    [running, '1 minute', '1 hour'],
  ])
    await world.sql(
      `insert into sessions (session_id, user_id, user_epoch, browser, started_at, expires_at, ends_at)
       values ($1, $2, 0, '', now(), now() + $3::interval, now() + $4::interval)`,
      [sessionId, userId, expiresIn, endsIn],
    );
  await forgetSessions(world.db);
  expect(await world.sql('select session_id as id from sessions where user_id = $1', [userId])).toEqual([
    { id: running },
  ]);
});

test('a user has at most three thousand of them: the next one ends all sessions and tokens instead', async () => {
  const userId = await newUser();
  await world.sql(
    `insert into ended_sessions select $1, gen_random_uuid(), now() + interval '1 hour' from generate_series(1, 2999)`,
    [userId],
  );
  await endSession(world.db, { userId, sessionId: newId(), expiresAt: inAnHour() });
  expect([(await ended(userId)).length, await epochOf(userId)]).toEqual([3_000, 0]);
  await endSession(world.db, { userId, sessionId: newId(), expiresAt: inAnHour() });
  expect([(await ended(userId)).length, await epochOf(userId)]).toEqual([0, 1]);
});

test('two ends of one session at once are stored as one; none is stored for a removed user', async () => {
  const userId = await newUser();
  const sessionId = newId();
  await Promise.all([1, 2, 3].map(() => endSession(world.db, { userId, sessionId, expiresAt: inAnHour() })));
  expect(await ended(userId)).toEqual([sessionId]);
  await world.sql('delete from users where user_id = $1', [userId]);
  expect(await ended(userId)).toEqual([]);
  await endSession(world.db, { userId, sessionId, expiresAt: inAnHour() });
  expect(await ended(userId)).toEqual([]);
});

const originsOf = async (userId: string) =>
  (
    await world.sql<{ origin: string }>(
      'select origin from login_origins where user_id = $1 order by origin',
      [userId],
    )
  ).map(({ origin }) => origin);

test('two concurrent logins of one user, each from a long-known address, are both remembered', async () => {
  for (let round = 0; round < 30; round += 1) {
    const userId = await newUser();
    await world.sql(
      `insert into login_origins select $1, origin, now() - interval '40 days' from unnest($2::text[]) origin`,
      [userId, ['a', 'b', 'c']],
    );
    const remembered = ['a', 'b'].map((origin) => rememberOrigin(world.db, userId, origin));
    expect(await Promise.all(remembered)).toEqual([true, true]);
    expect(await originsOf(userId)).toEqual(['a', 'b']);
  }
});

test('the latest hundred origins are stored, and none of a removed user', async () => {
  const userId = await newUser();
  await world.sql(
    `insert into login_origins select $1, 'o' || n, now() - n * interval '1 minute' from generate_series(1, 120) n`,
    [userId],
  );
  await rememberOrigin(world.db, userId, 'new');
  const kept = await originsOf(userId);
  expect(kept).toHaveLength(100);
  expect(kept).toEqual(expect.arrayContaining(['new', 'o1', 'o99']));
  await world.sql('delete from users where user_id = $1', [userId]);
  expect(await rememberOrigin(world.db, userId, 'new')).toBe(false);
});
