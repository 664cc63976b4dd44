import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { registerAccount, registerWebhook } from '../client.js';
import { operatorToken, startProcess, stopProcess } from '../process.js';
import type { RedisServer } from '../redis.js';
import { placeOrders, placeOrdersAtRate, target, type Accepted } from './load.js';
import { percentiles, type Percentiles } from './percentiles.js';
import { cpuUs, rssMb, startReceiverProcess, type BenchReceiver } from './processes.js';

export interface Figures {
  queue: string;
  startMs: number;
  acceptPerSecond: number;
  deliveriesPerSecond: number;
  idleMs: Percentiles;
  halfLoadMs: Percentiles;
  cpuUsPerDelivery: Record<string, number>;
  rssIdleMb: number;
  rssPeakMb: number;
}

interface Plan {
  queue: string;
  redis: RedisServer | null;
  dataDir: string;
  orders: number;
  webhooks: number;
  /** Where the service's CPU profile goes. */
  profileDir: string | undefined;
  say(line: string): unknown;
}

const connections = 64;

/** One service (role `all`, embedded PostgreSQL) measured phase by phase. */
export async function measure(plan: Plan): Promise<Figures> {
  const receiver = await startReceiverProcess();
  const startedAt = performance.now();
  const service = await startProcess(
    {
      DATA_DIR: plan.dataDir,
      PORT: '0',
      OPERATOR_TOKEN: operatorToken,
      LOG_LEVEL: process.env.BENCH_LOG_LEVEL ?? 'info',
      DELIVERY_CONCURRENCY: process.env.DELIVERY_CONCURRENCY ?? '',
      ...(plan.redis && { REDIS_URL: plan.redis.url }),
    },
    'all',
    plan.profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${plan.profileDir}`],
  );
  try {
    const startMs = performance.now() - startedAt;
    await sleep(1_000);
    const rssIdleMb = rssMb(service.pid);
    const postgresPid = Number(
      readFileSync(join(plan.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0],
    );
    const pids = {
      service: service.pid,
      postgres: postgresPid,
      ...(plan.redis && { redis: plan.redis.pid }),
      receiver: receiver.pid,
    };

    const idle = await registerAccount(service);
    await registerWebhook(idle, receiver.url);
    await placeOrders(target(service.url, idle), 300, 8); // warm
    await untilReceived(receiver, 300);
    const idleMs = await latency(receiver, () => placeOrdersAtRate(target(service.url, idle), 20, 5), 1);
    plan.say(`  idle latency p50 ${idleMs.p50.toFixed(1)} ms`);

    const silent = await registerAccount(service);
    await placeOrders(target(service.url, silent), plan.orders / 2, connections); // warm
    const acceptStart = performance.now();
    await placeOrders(target(service.url, silent), plan.orders, connections);
    const acceptPerSecond = plan.orders / ((performance.now() - acceptStart) / 1_000);
    plan.say(`  accepted ${Math.round(acceptPerSecond)} orders/s`);
    await sleep(1_500);

    const busy = await registerAccount(service);
    for (let n = 0; n < plan.webhooks; n += 1) await registerWebhook(busy, receiver.url);
    const deliveries = plan.orders * plan.webhooks;
    await receiver.reset();
    const cpuBefore = cpuOf(pids);
    const start = performance.timeOrigin + performance.now();
    await placeOrders(target(service.url, busy), plan.orders, connections);
    const lastAt = await untilReceived(receiver, deliveries);
    const deliveriesPerSecond = deliveries / ((lastAt - start) / 1_000);
    const cpuAfter = cpuOf(pids);
    const cpuUsPerDelivery = Object.fromEntries(
      Object.entries(cpuAfter).map(([name, us]) => [name, (us - (cpuBefore[name] ?? 0)) / deliveries]),
    );
    plan.say(`  ${Math.round(deliveriesPerSecond)} deliveries/s`);

    const ordersPerSecond = Math.max(1, Math.floor(deliveriesPerSecond / plan.webhooks / 2));
    const halfLoadMs = await latency(
      receiver,
      () => placeOrdersAtRate(target(service.url, busy), ordersPerSecond, 5),
      plan.webhooks,
    );
    return {
      queue: plan.queue,
      startMs,
      acceptPerSecond,
      deliveriesPerSecond,
      idleMs,
      halfLoadMs,
      cpuUsPerDelivery,
      rssIdleMb,
      rssPeakMb: rssMb(service.pid),
    };
  } finally {
    await stopProcess(service);
    receiver.stop();
  }
}

const cpuOf = (pids: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuUs(pid, name === 'postgres')]));

/** From the 201 of each order to its first receipt. */
async function latency(
  receiver: BenchReceiver,
  place: () => Promise<Accepted>,
  webhooks: number,
): Promise<Percentiles> {
  await receiver.reset();
  const accepted = await place();
  await untilReceived(receiver, accepted.size * webhooks);
  const arrivals = await receiver.arrivals();
  return percentiles(
    [...accepted].map(([trackingId, at]) => (arrivals.get(`/ ${trackingId}`) ?? Infinity) - at),
  );
}

async function untilReceived(receiver: BenchReceiver, count: number): Promise<number> {
  const until = Date.now() + 120_000;
  for (;;) {
    const { received, lastAt } = await receiver.count();
    if (received >= count) return lastAt;
    if (Date.now() > until) throw new Error(`${received} of ${count} notifications came within 120 s`);
    await sleep(20);
  }
}
