import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { operator, placeOrder, registerAccount, registerWebhook, type Account } from '../support/client.js';
import {
  startProcess,
  startServiceWith,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../support/harness.js';
import { pause } from '../support/until.js';
import { watchLockWaits } from '../support/lock-waits.js';

const backlog = 8_000;
const workers = 4;
const boundMs = 60_000;

interface Receiver {
  url: string;
  arrivals: Map<string, number>;
  close(): void;
}

let service: Service;
let more: RunningProcess[];
let account: Account;
let receivers: Receiver[];

beforeAll(async () => {
  service = await startServiceWith({ RETRY_SCHEDULE: '200ms,200ms,200ms,1h' });
  more = await Promise.all(Array.from({ length: workers - 1 }, () => startProcess(service.env, 'worker')));
  account = await registerAccount(service);
  receivers = [await startReceiver(200), await startReceiver(200), await startReceiver(500)];
});
afterAll(async () => {
  await Promise.all((more ?? []).map(stopProcess));
  await service?.stop();
  receivers?.forEach((receiver) => receiver.close());
});

test(`four workers share ${backlog} deliveries of one webhook without row-lock waits, while others are paused, replayed, redelivered, superseded and deleted`, async () => {
  const [busy, others, broken] = receivers as [Receiver, Receiver, Receiver];
  const { webhookId } = await registerWebhook(account, busy.url, {
    ordering: 'NONE',
    interests: ['NONE_OF_THEM'],
  });
  await registerWebhook(account, broken.url);
  await oweMany(webhookId);
  const watch = await watchLockWaits(service.env.DATABASE_URL!);
  const startedAt = performance.now();
  const takesMs = () => performance.now() - startedAt;
  const allArrived = () => busy.arrivals.size === backlog || takesMs() > boundMs;
  let tookMs = boundMs;
  const arriving = (async () => {
    while (!allArrived()) await sleep(50);
    tookMs = takesMs();
  })();
  const [, rounds] = await Promise.all([arriving, disturb(others.url, allArrived)]);
  await untilLogged(webhookId);
  const { samples, found, deadlocks } = await watch.stop();

  expect(busy.arrivals.size).toBe(backlog);
  expect([...busy.arrivals.values()].filter((times) => times > 1)).toEqual([]);
  expect(tookMs).toBeLessThan(boundMs);
  expect(deadlocks).toBe(0);
  expect(samples).toBeGreaterThan(50);
  expect(rounds).toBeGreaterThan(1);
  expect(found).toEqual([]);
  expect(new Set([...responses.paused, ...responses.resumed])).toEqual(new Set([200]));
  expect(new Set(responses.deleted)).toEqual(new Set([200]));
  expect(responses.replayed).toContain(202);
  expect(responses.redelivered).toContain(202);
  const reasons = await service.sql<{ reason: string }>(
    'select distinct reason from deliveries where reason is not null',
  );
  expect(reasons.map(({ reason }) => reason).sort()).toEqual(['SUPERSEDED', 'WEBHOOK_DELETED']);
  expect(broken.arrivals.size).toBeGreaterThan(0);
});

/** Due notifications of unknown shipments. */
async function oweMany(webhookId: string): Promise<void> {
  const due = `
    with made as (
      insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
      select overlay(uuid_floor(now())::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, $1, gen_random_uuid(), 1,
             'CREATED', now(), '{}'
        from generate_series(1, $3::int) n
      returning event_id, shipment_id
    )
    insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at)
    select $1, delivery_id(event_id, $2), event_id, $2, shipment_id, 1, 'CREATED', 'READY', now() from made`;
  await service.sql(due, [account.shipperId, webhookId, backlog]);
}

const responses = {
  paused: [] as number[],
  resumed: [] as number[],
  replayed: [] as number[],
  deleted: [] as number[],
  redelivered: [] as number[],
};

async function disturb(targetAddress: string, over: () => boolean): Promise<number> {
  const paused = (await registerWebhook(account, targetAddress)).webhookId;
  await registerWebhook(account, receivers[2]!.url, { supersede: true });
  const trackingIds = await Promise.all(Array.from({ length: 10 }, () => placeOrder(account)));
  const created = 'select 1 from shipment_progress where shipper_id = $1';
  const startedAt = Date.now();
  while ((await service.sql(created, [account.shipperId])).length < trackingIds.length)
    await pause(startedAt);
  await operator(service, '/events', {
    body: { events: trackingIds.map((trackingId) => ({ trackingId, state: 'PICKED_UP' })) },
  });
  let rounds = 0;
  for (; !over(); rounds += 1) {
    const removed = (await registerWebhook(account, targetAddress)).webhookId;
    const events = trackingIds.flatMap((trackingId) => [
      { trackingId, state: 'IN_TRANSIT' },
      { trackingId, state: 'IN_TRANSIT' },
    ]);
    responses.paused.push((await setStatus(paused, 'PAUSED')).httpStatus);
    const [{ body, data }, replayed] = await Promise.all([
      operator(service, '/events', { body: { events } }),
      replay(paused),
    ]);
    responses.replayed.push(replayed.httpStatus);
    if (rounds === 0) {
      expect(body.error).toBeUndefined();
      expect(data.results.filter((result: { error?: unknown }) => !result.error)).not.toEqual([]);
    }
    responses.resumed.push((await setStatus(paused, 'ACTIVE')).httpStatus);
    const [deleted] = await Promise.all([
      account.call(`/v1/webhooks/${removed}`, { method: 'DELETE' }),
      replay(paused),
      operator(service, '/events', { body: { events } }),
      redeliverOwed(),
    ]);
    responses.deleted.push(deleted.httpStatus);
  }
  return rounds;
}

async function redeliverOwed(): Promise<void> {
  const owed = `select delivery_id from outbox where shipper_id = $1 and status = 'RETRY' limit 3`;
  for (const { delivery_id: id } of await service.sql<{ delivery_id: string }>(owed, [account.shipperId]))
    responses.redelivered.push(
      (await account.call(`/v1/deliveries/${id}/redeliver`, { body: {} })).httpStatus,
    );
}

const setStatus = (webhookId: string, status: string) =>
  account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status } });

const replay = (webhookId: string) =>
  account.call(`/v1/webhooks/${webhookId}/replay`, {
    body: { from: new Date(Date.now() - 600_000).toISOString(), to: new Date().toISOString() },
  });

async function untilLogged(webhookId: string): Promise<void> {
  const owed = 'select 1 from outbox where webhook_id = $1 limit 1';
  const startedAt = Date.now();
  for (; (await service.sql(owed, [webhookId])).length > 0; await pause(startedAt))
    if (Date.now() > startedAt + 20_000) throw new Error('not everything is in the log');
  const [logged] = await service.sql<{ count: number }>(
    `select count(*)::int as count from deliveries where webhook_id = $1 and status = 'SUCCEEDED' and attempt_count = 1`,
    [webhookId],
  );
  expect(logged!.count).toBe(backlog);
}

async function startReceiver(status: number): Promise<Receiver> {
  const arrivals = new Map<string, number>();
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    arrivals.set(id, (arrivals.get(id) ?? 0) + 1);
    request.resume().on('end', () => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, arrivals, close };
}
