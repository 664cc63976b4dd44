import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../../support/client.js';
import { residentMb } from '../load/watch.js';
import type { World } from '../world/world.js';
import type { Fault } from './fault.js';
import { notAccepted, othersUndisturbed } from './figures.js';

interface Stranger {
  url: string;
  /** When each request came (epoch). */
  cameAt: number[];
  close(): void;
}

async function startStranger(
  respond: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Stranger> {
  const cameAt: number[] = [];
  const server = createServer((request, response) => {
    cameAt.push(performance.timeOrigin + performance.now());
    request.resume();
    respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cameAt, close };
}

async function register(account: Account, count: number, url: string): Promise<string[]> {
  const webhookIds: string[] = [];
  while (webhookIds.length < count) {
    const { webhookId } = await registerWebhook(account, `${url}/${webhookIds.length}`, { ordering: 'NONE' });
    webhookIds.push(webhookId);
  }
  return webhookIds;
}

/** Its webhooks are gone with it, and what they are owed. */
export const removeShipper = ({ service }: World, { shipperId }: Account) =>
  operator(service, `/shippers/${shipperId}`, { method: 'DELETE' });

export async function replaceWorkers({ service }: World, settings: Record<string, string>): Promise<void> {
  for (const worker of service.workers.splice(0)) {
    await service.startWorker(settings);
    await service.end(worker, 'SIGTERM');
  }
}

export const manyWebhooks = { WEBHOOKS_PER_SHIPPER: '500', WEBHOOK_CREATION_LIMIT: '0' };
const inAnySecond = (times: number[]) => {
  let [most, from] = [0, 0];
  times.forEach((at, index) => {
    while (times[from]! <= at - 1_000) from += 1;
    most = Math.max(most, index - from + 1);
  });
  return most;
};

const perSecond = 50;
export const settleMs = 12_000; // each worker knows of the other by then

const hammer: Fault = {
  name: 'B28',
  promise:
    "one shipper's 60 webhooks at one stranger's host: ≤ 50 POSTs in any second there until it has agreed; the other webhooks undisturbed",
  workers: 2,
  inFlight: 0,
  api: { env: manyWebhooks },
  inject: async ({ world, times, note }) => {
    let agrees = false;
    const stranger = await startStranger((request, response) => {
      const challenge = request.headers['webhook-challenge'];
      if (agrees && challenge) response.setHeader('webhook-challenge', challenge);
      response.end();
    });
    const own = world.hooks[0]!;
    const [row] = await world.sql<{ host: string }>(
      `select substring(target_address from '://([^/]+)') as host from webhooks where webhook_id = $1`,
      [own.webhookId],
    );
    await replaceWorkers(world, {
      DESTINATION_RATE: String(perSecond),
      AGREED_DESTINATIONS: row!.host,
    });
    await sleep(settleMs);
    const account = await registerAccount(world.service, 'hammer@example.com');
    await register(account, 60, stranger.url);
    const orders = Math.max(20, times(60));
    for (let n = 0; n < orders; n += 1) await placeOrder(account, `hammer-${n}`);
    await sleep(Math.max(10_000, times(30) * 1_000));
    const before = [...stranger.cameAt];
    const seconds = (before.at(-1)! - before[0]!) / 1_000;
    note({
      name: 'POSTs in any second',
      value: inAnySecond(before),
      unit: '',
      atMost: perSecond,
      note: `${before.length} in ${Math.round(seconds)} s, of ${60 * orders} due`,
    });
    agrees = true;
    await world.sql(`update destinations set asked_at = now() - interval '1 hour'`);
    const agreedAt = performance.now();
    const left = async () =>
      (
        await world.sql<{ count: number }>(
          'select count(*)::int as count from outbox where shipper_id = $1 and due_at is not null',
          [account.shipperId],
        )
      )[0]!.count;
    while ((await left()) > 0 && performance.now() - agreedAt < 60_000) await sleep(100);
    note({ name: 'still due a minute after it has agreed', value: await left(), unit: '', atMost: 0 });
    await removeShipper(world, account);
    stranger.close();
  },
  figures: (outcome) => [notAccepted(outcome), othersUndisturbed(outcome)],
};

const largeChars = 250_000;
const heapMb = 384;

const largeEvents: Fault = {
  name: 'B26',
  promise:
    '25 events with 250 KB of evidences to 500 webhooks that answer after 5 s, workers with 384 MB of heap: no process ends; RSS ≤ 768 MB; every order of the others accepted',
  workers: 2,
  inFlight: 0,
  api: { env: { ...manyWebhooks, ORDER_ITEMS_LIMIT: '256KiB' } },
  inject: async ({ world, pause, times, note }) => {
    await replaceWorkers(world, {
      NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
      ORDER_ITEMS_LIMIT: '256KiB',
    });
    const slow = await startStranger((_request, response) => void setTimeout(() => response.end(), 5_000));
    const account = await registerAccount(world.service, 'large@example.com');
    await register(account, 500, slow.url);
    let maxMb = 0;
    const watching = setInterval(() => {
      for (const { pid } of world.service.workers) maxMb = Math.max(maxMb, residentMb(pid));
    }, 200);
    const events = Math.max(5, times(25));
    for (let n = 0; n < events; n += 1) {
      const trackingId = await placeOrder(account, `large-${n}`);
      const body = { state: 'PICKED_UP', evidences: ['x'.repeat(largeChars)] };
      let status = 0;
      for (let tries = 0; status !== 202 && tries < 50; tries += 1) {
        status = (await operator(world.service, `/shipments/${trackingId}/events`, { body })).httpStatus;
        if (status !== 202) await sleep(100);
      }
      if (status !== 202) throw new Error(`a large event was answered with ${status}`);
    }
    await pause(60_000);
    clearInterval(watching);
    note({
      name: 'RSS of a worker',
      value: maxMb,
      unit: 'MB',
      atMost: 768,
      note: `${slow.cameAt.length} requests`,
    });
    await removeShipper(world, account);
    slow.close();
  },
  figures: (outcome) => [notAccepted(outcome), othersUndisturbed(outcome)],
};

export const fairnessFaults: Fault[] = [largeEvents, hammer];
