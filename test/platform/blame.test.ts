import { afterAll, expect, test } from '@jest/globals';
import { createPool, isFaultOfPiece } from '../../src/platform/database/postgres.js';
import { invalidRequest, unavailable } from '../../src/platform/errors.js';
import { createLogger } from '../../src/platform/telemetry/logger.js';

const options = {
  connectionString: process.env.TEST_DATABASE_URL ?? '',
  applicationName: 'test',
  maxConnections: 1,
  durable: false,
  statementTimeoutMs: 300,
  logger: createLogger('silent'),
};
const db = createPool(options);
afterAll(() => db.end());

const failureWith = (code: string): Promise<unknown> =>
  failureOf(db.query('', `do $$ begin raise exception 'as planned' using errcode = '${code}'; end $$`));

const failureOf = (statement: Promise<unknown>): Promise<unknown> =>
  statement.then(
    () => undefined,
    (error: unknown) => error,
  );

test.each([
  ['a value that is out of range', '22003'],
  ['a violated constraint', '23505'],
  ['a statement that took too long', '57014'],
  ['a deadlock', '40P01'],
  ['no memory', '53200'],
  ['a limit of the program', '54000'],
  ['a stack that is too deep', '54001'],
  ['a corrupt row', 'XX001'],
  ['a corrupt index', 'XX002'],
  ['an exception of a function', 'P0001'],
])('%s (%s) is the fault of the item', async (_, code) => {
  expect(isFaultOfPiece(await failureWith(code))).toBe(true);
});

test.each([
  ['a lock that could not be had', '55P03'],
  ['an administrator', '57P01'],
  ['a crash', '57P02'],
  ['a server that is starting', '57P03'],
  ['an idle session', '57P05'],
  ['an idle transaction', '25P03'],
  ['a server that is read-only', '25006'],
  ['a serialization failure', '40001'],
  ['a connection that failed', '08006'],
  ['too many connections', '53300'],
  ['a full disk', '53100'],
  ['an input/output error', '58030'],
  ['an internal error', 'XX000'],
])('%s (%s) is not the fault of the item', async (_, code) => {
  expect(isFaultOfPiece(await failureWith(code))).toBe(false);
});

test('a statement timeout is the fault of the item; a failed connection is not', async () => {
  expect(isFaultOfPiece(await failureOf(db.query('', 'select pg_sleep(1)')))).toBe(true);
  const ended = createPool(options);
  await ended.end();
  expect(isFaultOfPiece(await failureOf(ended.query('', 'select 1')))).toBe(false);
});

test('an item that others keep changing is at fault, and so is one that the service itself refuses or fails on', () => {
  for (const error of [unavailable('It is being changed too often.'), invalidRequest([]), new TypeError()])
    expect(isFaultOfPiece(error)).toBe(true);
});
