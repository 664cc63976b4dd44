import { afterAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { metricsOf, placeOrder, registerAccount, registerWebhook } from '../../support/client.js';
import { startProcess, startServiceToBreak, stopProcess, type Service } from '../../support/harness.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { accountAt, crashTraces } from '../../support/deployment.js';
import { countByStatus, untilAllAre } from '../../support/deliveries.js';
import { heardOf, placeOrders, repeated, startLoad } from '../../support/load.js';
import { until } from '../../support/until.js';

const lastLine = (output: string) => output.trimEnd().split('\n').at(-1);

describe('SIGTERM', () => {
  const services: Service[] = [];
  const receivers: Receiver[] = [];

  // Each test has its own service, which it stops; tests that need little CPU run concurrently.
  const start = async (env: Record<string, string> = {}) => {
    const service = await startServiceToBreak(env);
    services.push(service);
    return service;
  };
  const receive = async (reply?: Receiver['reply']) => {
    const receiver = await startReceiver(reply);
    receivers.push(receiver);
    return receiver;
  };
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });

  test('lets attempts in flight finish, starts no others, exits 0 with a last log line, and the next start continues', async () => {
    const service = await start({ DELIVERY_CONCURRENCY: '4', SHUTDOWN_TIMEOUT: '15s' });
    const account = await registerAccount(service);
    const responses: (() => void)[] = [];
    const receiver = await receive((_, response) => void responses.push(() => response.end('ok')));
    const { webhookId } = await registerWebhook(account, receiver.url);
    const accepted = await placeOrders(account, 12);
    await receiver.waitFor(4);

    service.process.kill('SIGTERM');
    await until('stopping', () => service.process.output().includes('"msg":"stopping"'));
    await sleep(300); // no witness: the worker does nothing else while it waits for its attempts
    receiver.reply = () => ({});
    for (const respond of responses) respond();
    const respondedAt = Date.now();
    expect(await service.process.exited).toBe(0);
    expect(Date.now() - respondedAt).toBeLessThan(2_000);
    expect(lastLine(service.process.output())).toContain('"msg":"stopped"');
    expect(receiver.received.length).toBe(4);
    const counts = await countByStatus(service, webhookId);
    expect([counts.SUCCEEDED, counts.SENDING ?? 0]).toEqual([4, 0]); // no lease has to run out

    service.process = await startProcess(service.env);
    await untilAllAre(service, webhookId, 'SUCCEEDED', 12, 25_000);
    expect(heardOf(receiver.received, accepted)).toBe(12);
    expect(repeated(receiver.received)).toBe(0);
  });

  test.concurrent('gives up on outcomes that cannot be recorded within SHUTDOWN_TIMEOUT', async () => {
    const service = await start({ DELIVERY_TIMEOUT: '500ms', SHUTDOWN_TIMEOUT: '500ms' });
    const account = await registerAccount(service);
    const receiver = await receive(() => ({ delayMs: 300 }));
    await registerWebhook(account, receiver.url);
    await placeOrder(account);
    await receiver.waitFor(1);
    const client = new pg.Client({ connectionString: service.env.DATABASE_URL });
    await client.connect();
    await client.query('begin');
    await client.query('lock table deliveries in access exclusive mode');
    const startedAt = Date.now();
    expect(await stopProcess(service.process)).toBe(1);
    expect(Date.now() - startedAt).toBeLessThan(2_000);
    expect(lastLine(service.process.output())).toContain('not drained in time');
    await client.end();
  });

  test.concurrent('continues normally for SHUTDOWN_DELAY, only not ready, and then drains', async () => {
    // The delay does not count in SHUTDOWN_TIMEOUT.
    const service = await start({ SHUTDOWN_DELAY: '1500ms', SHUTDOWN_TIMEOUT: '1s' });
    const account = await registerAccount(service);
    const ready = () => fetch(`${service.url}/readyz`, { headers: { connection: 'close' } });
    await until('ready', async () => (await ready()).ok);
    const startedAt = Date.now();
    service.process.kill('SIGTERM');
    await until('stopping', () => service.process.output().includes('"msg":"stopping"'));
    const response = await ready();
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 'UNAVAILABLE', checks: { draining: 'the service is stopping' } },
    ]);
    const metrics = await metricsOf(service);
    expect(metrics).toMatch(/^parcelhook_ready\{role="\w+"\} 0$/m);
    expect(metrics).toMatch(/^parcelhook_draining\{role="\w+"\} 1$/m);
    await sleep(Math.max(0, startedAt + 1_000 - Date.now()));
    expect((await ready()).status).toBe(503); // on a new connection
    await placeOrder(account);
    expect(await service.process.exited).toBe(0);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_500);
  });

  test.concurrent('lets a test that waits for its receiver end, and responds to it', async () => {
    const service = await start();
    const account = await registerAccount(service);
    const receiver = await receive(() => ({ delayMs: 5_500 }));
    const { webhookId } = await registerWebhook(account, receiver.url);
    const response = account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
    await receiver.waitFor(1);
    expect(await stopProcess(service.process)).toBe(0);
    expect(await response).toMatchObject({ httpStatus: 200, data: { statusCode: 200, errorCode: null } });
  });

  test.concurrent('by a Ctrl-C that arrives twice, through npm, counts once', async () => {
    const service = await start();
    service.process.kill('SIGINT');
    service.process.kill('SIGINT');
    expect(await service.process.exited).toBe(0);
  });

  test.concurrent('sent twice exits at once', async () => {
    const service = await start();
    const account = await registerAccount(service);
    const receiver = await receive(() => ({ delayMs: 60_000 }));
    await registerWebhook(account, receiver.url);
    await placeOrder(account);
    await receiver.waitFor(1);
    service.process.kill('SIGTERM');
    await until('stopping', () => service.process.output().includes('"msg":"stopping"'));
    const startedAt = Date.now();
    expect(await stopProcess(service.process)).toBe(1);
    expect(Date.now() - startedAt).toBeLessThan(3_000);
  });

  test('to one process after the other, under load, loses and duplicates nothing', async () => {
    const service = await start();
    const account = await registerAccount(service);
    const receiver = await receive(() => ({ delayMs: 50 }));
    const { webhookId } = await registerWebhook(account, receiver.url);
    const processes = [service.process, await startProcess(service.env)];
    const exits: unknown[] = [];
    let inService = [...processes];
    let next = 0;
    const load = startLoad(() => accountAt(account, inService[next++ % inService.length]!), 20);
    try {
      await receiver.waitFor(20);
      for (const index of [0, 1]) {
        const old = processes[index]!;
        inService = inService.filter((one) => one !== old); // as a load balancer would
        exits.push(await stopProcess(old));
        expect(crashTraces(old.output())).toEqual([]);
        processes[index] = await startProcess(service.env);
        inService.push(processes[index]);
        const seen = receiver.received.length;
        await receiver.waitFor(seen + 20);
      }
      await load.stop();
      const { accepted, responses } = load;
      expect(exits).toEqual([0, 0]);
      // On a busy machine PostgreSQL may take too long for one: it is told to come again.
      const comeAgain = responses.filter(({ httpStatus, retryAfter }) => httpStatus === 503 && retryAfter);
      expect(comeAgain.length).toBeLessThan(0.05 * responses.length);
      expect(responses.filter((one) => one.httpStatus !== 201 && !comeAgain.includes(one))).toEqual([]);
      await untilAllAre(service, webhookId, 'SUCCEEDED', accepted.length, 20_000);
      expect(heardOf(receiver.received, accepted)).toBe(accepted.length);
      expect(repeated(receiver.received)).toBe(0);
    } finally {
      await load.stop();
      service.process = processes[0]!;
      await stopProcess(processes[1]!);
    }
  });
});
