/** Work whose size a client chooses: what it may cost, in time and memory. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import {
  figureOf,
  fromPortal,
  parseResponse,
  placeOrder,
  registerAccount,
  type Account,
} from '../support/client.js';
import { orderDelivered, startHook, untilDelivery } from '../support/deliveries.js';
import { startServiceToInspect, type Service } from '../support/harness.js';
import { expectFailure, expectSuccess, expectWrong, untilState } from '../support/expect.js';
import { until } from '../support/until.js';

let service: Service;
let account: Account;
beforeAll(async () => {
  service = await startServiceToInspect({ API_RATE_LIMIT: '0' });
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

test('creation normally takes less than 100 ms', async () => {
  const durations: number[] = [];
  for (let n = 0; n < 15; n += 1) {
    const trackingId = await placeOrder(account);
    const acceptedAt = performance.now();
    await untilState(account, trackingId, 'CREATED');
    durations.push(performance.now() - acceptedAt);
  }
  durations.sort((a, b) => a - b);
  expect(durations[7]).toBeLessThan(100);
});

test('a far too long address is refused before its Unicode host is parsed', async () => {
  const cpuSeconds = () => figureOf(service, 'process_cpu_seconds_total');
  const body = { interests: ['*'], targetAddress: `http://${'ǆ'.repeat(120_000)}.com/` };
  const before = await cpuSeconds();
  for (let n = 0; n < 8; n += 1) expectFailure(await account.call('/v1/webhooks', { body }), 400);
  expect((await cpuSeconds()) - before).toBeLessThan(1.5); // took three seconds before
});

const memoryMb = () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))![1]) / 1_024;

describe('unfinished uploads of one shipper take little memory', () => {
  const count = 900;
  const bodyBytes = 256 * 1024;

  test.each([
    ['each on a new connection', false],
    ['all at once, on connections that were open', true],
  ])('%s', async (_what, areOpen) => {
    const { hostname, port } = new URL(service.url);
    const head = [
      `POST /v1/shipments?key=${account.accountKey} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${account.token}`,
      'Content-Type: application/json',
      `Content-Length: ${bodyBytes}`,
    ];
    const upload = Buffer.from(`${head.join('\r\n')}\r\n\r\n${'x'.repeat(bodyBytes - 1)}`);
    const counts = { open: 0, refused: 0, closed: 0 };
    const connectOne = () =>
      connect(Number(port), hostname, () => (counts.open += 1))
        .on('error', () => undefined) // it may still be writing when the connection is closed
        .on('data', (bytes: Buffer) => (counts.refused += bytes.includes('HTTP/1.1 429 ') ? 1 : 0))
        .on('close', () => (counts.closed += 1));
    for (let n = 0; n < 30; n += 1) await placeOrder(account); // the service has its usual memory
    const beforeMb = memoryMb();
    let maxMb = beforeMb;
    const watching = setInterval(() => (maxMb = Math.max(maxMb, memoryMb())), 20);
    const sockets = Array.from({ length: count }, connectOne);
    if (areOpen) await until('all are open', () => counts.open === count, 60_000);
    for (const socket of sockets) socket.write(upload);
    await until('all but some are refused', () => counts.closed > count - 40, 60_000);
    clearInterval(watching);
    for (const socket of sockets) socket.destroy();
    console.info(`${count} unfinished uploads: ${(maxMb - beforeMb).toFixed(0)} MB`, counts);
    expect(counts.refused).toBeGreaterThan(count - 40);
    expect(maxMb - beforeMb).toBeLessThan(120); // one read of 64 KiB from each is 56
  });
});

describe('a body in one-byte chunks is refused early, and takes no memory', () => {
  const chunks = 100_000;
  /** Never ends its body. Resolves when the service closes the connection. */
  const upload = (start: string, headers: Record<string, string>) =>
    new Promise<string>((resolve) => {
      const { hostname, port } = new URL(service.url);
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      const head = [`${start} HTTP/1.1`, 'Host: localhost', ...lines, 'Transfer-Encoding: chunked', '', ''];
      let text = '';
      const socket = connect(Number(port), hostname)
        .on('error', () => undefined) // it may still be writing when the connection is closed
        .on('data', (bytes: Buffer) => (text += bytes.toString()))
        .on('close', () => resolve(text));
      socket.write(head.join('\r\n') + '1\r\n[\r\n'.repeat(chunks));
    });

  test.each([
    ['of a stranger', () => 'POST /v1/session', () => fromPortal],
    [
      'that its endpoint does not read',
      (cursor: string) => `GET /v1/events?after=${cursor}&wait=30s&key=${account.accountKey}`,
      () => ({ authorization: `Bearer ${account.token}` }),
    ],
  ])('%s', async (_what, start, headers) => {
    const { nextCursor } = (await account.call('/v1/events?after=latest')).data;
    const beforeMb = memoryMb();
    const all = { 'content-type': 'application/json', ...headers() };
    const uploads = Array.from({ length: 30 }, () => upload(start(nextCursor), all));
    for (const text of await Promise.all(uploads)) {
      const response = parseResponse(text);
      expectWrong(response, ['body']);
      expect(response.body.error.details![0]!.message).toContain('too small chunks');
    }
    expect(memoryMb() - beforeMb).toBeLessThan(200); // the chunks alone took 600 MB
  });
});

test.each<[string, string]>([
  ['interests', `{"interests":[${'1,'.repeat(120_000)}1]}`],
  ['U+0000', `{"name":[${'"\\u0000",'.repeat(25_000)}1]}`],
  ['numbers beyond all', `{"name":[${'1e999,'.repeat(40_000)}1]}`],
  ['wrong values under a long name', `{"${'n'.repeat(120_000)}":[${'"\\u0000",'.repeat(14_000)}1]}`],
  ['headers', `{"headers":{${Array.from({ length: 20_000 }, (_, n) => `"h${n}":1`).join()}}}`],
])('a body full of wrong %s gets a quick and short response', async (_, raw) => {
  const startedAt = performance.now();
  const response = await account.call('/v1/webhooks', { raw });
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  expectFailure(response, 400);
  expect(JSON.stringify(response.body).length).toBeLessThan(500_000);
});

test('a delivery with 20,000 attempts is read a page at a time, newest first, without gaps; a cursor of another one is refused', async () => {
  const hook = await startHook(account);
  const deliveryId = await orderDelivered(account, hook.webhookId);
  await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
  await service.sql(
    `insert into attempts (shipper_id, delivery_id, number, trigger, started_at, duration_ms, status_code,
                           error_code, response_body)
     select shipper_id, delivery_id, n, 'REPLAY', now() - interval '2 days', 7, 500, 'HTTP_STATUS', repeat('x', 4096)
       from deliveries, generate_series(1, 20000) n where delivery_id = $1`,
    [deliveryId],
  );
  await service.sql(`update deliveries set attempt_count = 20001 where delivery_id = $1`, [deliveryId]);
  const read = async (cursor: string | null) => {
    const query = cursor === null ? '' : `?attemptsCursor=${cursor}`;
    const response = await account.call(`/v1/deliveries/${deliveryId}${query}`);
    expectSuccess(response, 200);
    const { attempts, nextAttemptsCursor, attemptCount, lastAttempt } = response.data as any;
    expect({ attemptCount, statusCode: lastAttempt.statusCode }).toEqual({
      attemptCount: 20_001,
      statusCode: 200,
    });
    return {
      numbers: attempts.map(({ number }: any) => number),
      next: nextAttemptsCursor as string | null,
    };
  };
  const startedAt = performance.now();
  const first = await read(null);
  const durationMs = performance.now() - startedAt;
  expect(first.numbers).toEqual(Array.from({ length: 100 }, (_, n) => 20_001 - n));
  const second = await read(first.next);
  expect(second.numbers[0]).toBe(19_901);
  await service.sql('delete from attempts where delivery_id = $1 and number between 151 and 19801', [
    deliveryId,
  ]);
  const last = await read(second.next);
  const end = await read(last.next);
  expect([...last.numbers, ...end.numbers]).toEqual(Array.from({ length: 150 }, (_, n) => 150 - n));
  expect([last.numbers.length, end.next]).toEqual([100, null]);
  console.info(`a page of 20,001 attempts: ${durationMs.toFixed(0)} ms`);
  expect(durationMs).toBeLessThan(2_000); // together they are 80 MB
  const other = await orderDelivered(account, hook.webhookId);
  for (const [id, cursor] of [
    [deliveryId, 'x'],
    [other, first.next],
  ]) {
    const wrong = await account.call(`/v1/deliveries/${id}?attemptsCursor=${cursor}`);
    expectFailure(wrong, 400);
    expect(wrong.body.error.details).toMatchObject([{ path: 'attemptsCursor' }]);
  }
  const bytes = Buffer.from(first.next!, 'base64url').fill(0xff, 0, 16); // every number that fits in a cursor
  expectSuccess(
    await account.call(`/v1/deliveries/${deliveryId}?attemptsCursor=${bytes.toString('base64url')}`),
    200,
  );
  await hook.close();
});
