import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { createPool, type Pool } from '../../../src/platform/database/postgres.js';
import { ConfigError } from '../../../src/platform/errors.js';
import { createLogger } from '../../../src/platform/telemetry/logger.js';
import { requireKey, resealKeyCheck, sealKeyCheck } from '../../../src/webhooks/reseal.js';
import { createSecretBox } from '../../../src/engine/send/sealing.js';
import { createDatabase, dropDatabase, templateDatabase } from '../../support/database.js';

const server = process.env.TEST_DATABASE_URL ?? '';
const name = `t_${randomBytes(6).toString('hex')}`;
let db: Pool;

beforeAll(async () => {
  db = createPool({
    connectionString: await createDatabase(server, name, templateDatabase),
    applicationName: 'test',
    maxConnections: 8,
    durable: true,
    statementTimeoutMs: 10_000,
    logger: createLogger('silent'),
  });
});
afterAll(async () => {
  await db.end();
  await dropDatabase(server, name);
});

const keys = Array.from({ length: 4 }, (_, n) => `${n}`.repeat(32));

test('one of several concurrent first starts with different keys wins, and the others are refused', async () => {
  const boxes = [...keys, ...keys].map((key) => createSecretBox(key));
  expect(await requireKey(db, boxes[0]!)).toBe(false);
  const started = await Promise.allSettled(boxes.map((box) => sealKeyCheck(db, box)));
  const taken = new Set(
    boxes.filter((_, n) => started[n]!.status === 'fulfilled').map(({ prefix }) => prefix),
  );
  expect(taken.size).toBe(1);
  const refusals = started.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
  expect(refusals).toHaveLength(6);
  for (const error of refusals) expect(error).toBeInstanceOf(ConfigError);
  expect(await db.query('', 'select 1 from key_check')).toHaveLength(1);
});

test('both keys work until the check value is sealed with the new one, then the new one alone', async () => {
  const [before, after] = ['b'.repeat(32), 'a'.repeat(32)];
  await db.query('', 'delete from key_check');
  await sealKeyCheck(db, createSecretBox(before));
  await expect(requireKey(db, createSecretBox(after))).rejects.toThrow(
    /SECRETS_KEY nor SECRETS_KEY_PREVIOUS/,
  );
  const both = [createSecretBox(after, before), createSecretBox(before, after)];
  for (const box of both) expect(await requireKey(db, box)).toBe(true);
  await resealKeyCheck(db, both[0]!);
  for (const box of [...both, createSecretBox(after)]) expect(await requireKey(db, box)).toBe(true);
  await expect(requireKey(db, createSecretBox(before))).rejects.toThrow(ConfigError);
});
