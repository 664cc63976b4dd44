/** Work whose size a client chooses is bounded and costs other clients nothing. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import pg from 'pg';
import {
  fromPortal,
  parseResponse,
  placeOrder,
  registerAccount,
  request,
  type Account,
} from '../../support/client.js';
import { until } from '../../support/until.js';
import { startProcess, startService, stopProcess, type Service } from '../../support/harness.js';
import { expectFailure, expectWrong, untilState } from '../../support/expect.js';

let service: Service;
let account: Account;
beforeAll(async () => {
  service = await startService();
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

async function wellTravelled(shipperTrackingId: string, count: number, bodyBytes = 0): Promise<string> {
  const trackingId = await placeOrder(account, shipperTrackingId);
  await untilState(account, trackingId, 'CREATED');
  await service.sql(
    `with known as (
       update shipment_progress
          set sequence = sequence + $2::int, first_event_id = default, last_event_id = default
        where shipment_id = (select shipment_id from shipments where tracking_id = $1)
     )
     insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
     select overlay(gen_random_uuid()::text placing left(uuid_floor(now())::text, 15) from 1 for 15)::uuid, s.shipper_id, s.shipment_id, 1 + n, 'IN_TRANSIT', now(),
            json_build_object('state', 'IN_TRANSIT', 'timestamp', n, 'lat', null, 'lng', null, 'anomalies', null,
                              'evidences', json_build_array(repeat('e', $3)))
       from shipments s, generate_series(1, $2) n where tracking_id = $1`,
    [trackingId, count, bodyBytes],
  );
  return trackingId;
}

const historyOf = async (trackingId: string) => {
  const { data } = await account.call(`/v1/shipment-tracking/${trackingId}`);
  return data.history as { state: string; timestamp: number }[];
};

test('the history of a shipment has its latest 1,000 states, or as many large ones as fit 1 MiB', async () => {
  const many = await historyOf(await wellTravelled('MANY', 1_500));
  expect(many).toHaveLength(1_000);
  expect([many[0]!.timestamp, many.at(-1)!.timestamp]).toEqual([501, 1_500]);
  const large = await historyOf(await wellTravelled('LARGE', 30, 250_000));
  expect(large).toHaveLength(5); // the last of them may exceed the limit
  expect(large.at(-1)!.timestamp).toBe(30);
});

test('the log refuses a query by shipments with more than 10,000 states: 400 suggests another filter', async () => {
  const trackingId = await wellTravelled('ENDLESS', 10_001);
  for (const [name, value] of Object.entries({ trackingId, shipperTrackingId: 'ENDLESS' })) {
    const response = await account.call(`/v1/deliveries?${name}=${value}`);
    expectFailure(response, 400);
    expect(response.body.error.details).toEqual([
      { path: name, message: expect.stringContaining('more than 10000 states') },
    ]);
  }
});

test('strangers requesting the password page do not exhaust the database connections', async () => {
  const client = new pg.Client({ connectionString: service.env.DATABASE_URL! });
  await client.connect();
  try {
    await client.query('begin; lock table password_links in access exclusive mode');
    const strangers = Array.from({ length: 30 }, (_, n) =>
      request(`${service.url}/set-password?token=${String(n).padStart(43, 'a')}`),
    );
    for (let n = 0; n < 10; n += 1) expect((await account.call('/v1/webhooks')).httpStatus).toBe(200);
    await placeOrder(account);
    await client.query('rollback');
    for (const { httpStatus } of await Promise.all(strangers)) expect([404, 429, 503]).toContain(httpStatus);
  } finally {
    await client.end();
  }
});

test('a far too long address is refused before its Unicode host is parsed', async () => {
  const cpuSeconds = async () =>
    Number(
      /^parcelhook_process_cpu_seconds_total (\S+)/m.exec(
        await (await fetch(`${service.url}/metrics`)).text(),
      )![1],
    );
  const body = { interests: ['*'], targetAddress: `http://${'ǆ'.repeat(120_000)}.com/` };
  const before = await cpuSeconds();
  for (let n = 0; n < 8; n += 1) expectFailure(await account.call('/v1/webhooks', { body }), 400);
  expect((await cpuSeconds()) - before).toBeLessThan(1.5); // took three seconds before
});

describe('a body in one-byte chunks is refused early, and takes no memory', () => {
  const chunks = 100_000;
  const memoryMb = () =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))![1]) / 1_024;
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

test('a failing step of the hourly maintenance does not prevent the other steps', async () => {
  await service.sql(
    `insert into webhook_hours select gen_random_uuid(), '2001-01-01', 1, 0, 1, 1, '{1}', '{1}'`,
  );
  await service.sql(
    `insert into idempotency_keys select shipper_id, 'old', '', shipment_id, now() - interval '25 hours' from shipments limit 1`,
  );
  await service.sql(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'as planned'; end $$`);
  await service.sql('create trigger refuse before delete on webhook_hours execute function refuse()');
  const worker = await startProcess(service.env, 'worker');
  try {
    const left = () => service.sql(`select 1 from idempotency_keys where key = 'old'`);
    await until('the old idempotency key is gone', async () => (await left()).length === 0);
    await until('the failure is logged', () => worker.output().includes('"task":"maintenance"'));
  } finally {
    await stopProcess(worker);
  }
});
