import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { rememberOrigin } from '../../../src/accounts/users.js';
import { newId } from '../../../src/platform/ids.js';
import { createWorld, type World } from '../../support/core/world.js';

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
