import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createPool, type Pool, type Queries } from '../../../src/platform/database/postgres.js';
import { logger } from '../../support/core/world.js';

const connections = 4;
const statementTimeoutMs = 500;

/** Sockets of the open connections; a silenced one gets neither data nor a close. */
const open: Socket[][] = [];
let proxy: Server;
let pool: Pool;

beforeAll(async () => {
  const target = new URL(process.env.TEST_DATABASE_URL!);
  const port = Number(target.port);
  proxy = createServer((client) => {
    const server = connect(port, target.hostname);
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.pipe(server);
    server.pipe(client);
    open.push([client, server]);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  target.port = String((proxy.address() as AddressInfo).port);
  pool = createPool({
    connectionString: target.toString(),
    applicationName: 'test',
    maxConnections: connections,
    durable: true,
    statementTimeoutMs,
    logger,
  });
});
afterAll(async () => {
  await pool.end();
  proxy.close();
  for (const pair of open) for (const socket of pair) socket.destroy();
});

/** Silences all open connections; new ones work. */
async function cutOff(): Promise<void> {
  await Promise.all(Array.from({ length: connections }, () => pool.query('', 'select pg_sleep(0.1)')));
  for (const [client, server] of open) {
    client!.unpipe(server).resume();
    server!.unpipe(client).resume();
  }
}

const both = async (db: Pool) => {
  const [first] = await db.together(
    (one) => one.query('', 'select 1'),
    (one) => one.query('', 'select 2'),
  );
  if (first.status === 'rejected') throw first.reason;
};

test('two statements go out in one message: the second does not wait for the result of the first', async () => {
  await both(pool);
  let messages = 0;
  for (const [client] of open) client!.on('data', () => (messages += 1));
  await both(pool);
  expect(messages).toBe(1);
});

test('the second of two statements has its own timeout, however long the first took', async () => {
  const almost = (db: Queries) => db.query('', `select pg_sleep($1)`, [(statementTimeoutMs - 50) / 1_000]);
  expect(await pool.together(almost, almost)).toMatchObject([
    { status: 'fulfilled' },
    { status: 'fulfilled' },
  ]);
});

test.each<[string, (db: Pool) => Promise<unknown>]>([
  ['a statement', (db) => db.query('', 'select 1')],
  ['a transaction', (db) => db.transaction((tx) => tx.query('', 'select 1'))],
  ['a message of two statements', both],
])('%s without a response is the only one to wait for it', async (_, work) => {
  await cutOff();
  await expect(work(pool)).rejects.toMatchObject({ httpStatus: 503 });
  const startedAt = performance.now();
  for (let n = 0; n < connections; n += 1) await work(pool);
  expect(performance.now() - startedAt).toBeLessThan(statementTimeoutMs);
});
