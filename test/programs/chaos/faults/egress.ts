import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { registerWebhook, type Account } from '../../../support/client.js';
import { notAccepted, othersUndisturbed } from './figures.js';
import type { Fault } from './fault.js';
import { untilDone } from '../load/stops.js';
import { probeHealth } from '../load/watch.js';
import type { World } from '../world/world.js';

const deadNames = 20;
const testsAtOnce = 5;

const remove = (account: Account, webhookIds: string[]) =>
  Promise.all(
    webhookIds.map((id) => untilDone(() => account.call(`/v1/webhooks/${id}`, { method: 'DELETE' }), [404])),
  );

const silentDns: Fault = {
  name: 'R14',
  promise: 'a silent name server for 20 more webhooks, and a test to each: the other webhooks undisturbed',
  byName: true,
  workers: 2,
  inFlight: 0,
  inject: async ({ world: { accounts, dns }, pause, note }) => {
    const [account] = accounts as [Account];
    const dead: string[] = [];
    while (dead.length < deadNames)
      dead.push((await registerWebhook(account, `http://dead-${dead.length}.example.org:8080/`)).webhookId);
    let wrong = 0;
    for (let n = 0; n < dead.length; n += testsAtOnce) {
      const tests = dead
        .slice(n, n + testsAtOnce)
        .map((id) => account.call(`/v1/webhooks/${id}/test`, { body: {} }));
      for (const { data } of await Promise.all(tests)) if (data?.errorCode !== 'DNS') wrong += 1;
    }
    note({ name: 'tests that did not end with DNS', value: wrong, unit: '', atMost: 0 });
    await pause(60_000);
    await remove(account, dead);
    const asked = dns.asked.filter(({ name }) => name.startsWith('dead-')).length;
    note({ name: 'queries for dead names', value: asked, unit: '' });
  },
  figures: (outcome) => [notAccepted(outcome), othersUndisturbed(outcome)],
};

const hugeNames = 20;

const hugeResponses: Fault = {
  name: 'B17',
  promise:
    '6,100 addresses behind each name of 20 more webhooks, which are renamed and tested at once, 10 times: /healthz ≤ 250 ms; every test ends with DNS',
  byName: true,
  workers: 2,
  inFlight: 0,
  inject: async ({ world: { accounts, service, dns }, times, note }) => {
    const huge: { account: Account; id: string }[] = [];
    const target = (round: number, n: number) => `http://huge-${round}-${n}.example.org:8080/`;
    // Spread over the accounts: each may have five tests under way.
    while (huge.length < hugeNames) {
      const account = accounts[huge.length % accounts.length]!;
      const { webhookId } = await registerWebhook(account, target(0, huge.length));
      huge.push({ account, id: webhookId });
    }
    const wrong: string[] = [];
    const health = [service.url, ...service.workers.map(({ url }) => url)].map((url) => probeHealth(url));
    for (let round = times(10); round > 0; round -= 1) {
      await Promise.all(
        huge.map(({ account, id }, n) => {
          const change = { method: 'PATCH', body: { targetAddress: target(round, n) } };
          return untilDone(() => account.call(`/v1/webhooks/${id}`, change));
        }),
      );
      const tests = huge.map(({ account, id }) => account.call(`/v1/webhooks/${id}/test`, { body: {} }));
      for (const { httpStatus, data } of await Promise.all(tests))
        if (data?.errorDetail !== 'TOO_MANY_ADDRESSES') wrong.push(`${httpStatus} ${data?.errorCode}`);
    }
    const healths = await Promise.all(health.map(({ stop }) => stop()));
    for (const figure of healths.flatMap(({ figures }) => figures)) note(figure);
    const slowestMs = Math.max(...healths.map(({ slowestMs }) => slowestMs));
    note({ name: 'slowest /healthz', value: slowestMs, unit: 'ms', atMost: 250 });
    note({
      name: 'tests that did not end with DNS',
      value: wrong.length,
      unit: '',
      atMost: 0,
      note: [...new Set(wrong)].join(', '),
    });
    for (const { account, id } of huge) await remove(account, [id]);
    const asked = new Set(dns.asked.flatMap(({ name }) => (name.startsWith('huge-') ? name : []))).size;
    note({ name: 'names with 6,100 addresses looked up', value: asked, unit: '' });
  },
  figures: (outcome) => {
    // No limit: other lookups wait while the thread parses large responses (docs/faults.md).
    const { name, value, unit, note } = othersUndisturbed(outcome);
    return [notAccepted(outcome), { name, value, unit, ...(note !== undefined && { note }) }];
  },
};

interface CallsToItself {
  refused: number;
  others: number;
  tests: number;
}

const callsToItself = `
  select count(*) filter (where status_code = 400)::int as refused,
         count(*) filter (where status_code is distinct from 400)::int as others,
         (select count(*)::int from events where shipment_id is null and state !~ '^WEBHOOK_') as tests
    from attempts join outbox using (delivery_id) where webhook_id = $1`;

const webhookOnItself: Fault = {
  name: 'B10',
  promise:
    'a webhook whose name leads to the service itself, with a valid token: no loop; by address it is refused',
  workers: 2,
  inFlight: 0,
  inject: async ({ world: { accounts, service, postgres }, pause, note }) => {
    const [account] = accounts as [Account];
    const { port } = new URL(service.url);
    const headers = { Authorization: `Bearer ${account.token}` };
    const { webhookId } = await registerWebhook(account, `http://itself.example.org:${port}/`, { headers });
    const pathOfTest = `/v1/webhooks/${webhookId}/test?key=${account.accountKey}`;
    const change = (host: string) => {
      const body = { targetAddress: `http://${host}:${port}${pathOfTest}` };
      return account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body });
    };
    await untilDone(() => change('itself.example.org'));
    const { httpStatus } = await change('127.0.0.1');
    note({ name: 'own address accepted', value: httpStatus === 400 ? 0 : 1, unit: '', atMost: 0 });
    const count = async () => (await postgres!.sql<CallsToItself>(callsToItself, [webhookId]))[0]!;
    for (let n = 0; n < 30 && (await count()).refused === 0; n += 1) await pause(1_000);
    await pause(30_000);
    const { refused, others, tests } = await count();
    await remove(account, [webhookId]);
    note({ name: 'tests started by its own calls', value: tests, unit: '', atMost: 0 });
    note({ name: 'own calls with a response other than 400', value: others, unit: '', atMost: 0 });
    note({ name: 'runs without a call to itself', value: refused > 0 ? 0 : 1, unit: '', atMost: 0 });
  },
  figures: (outcome) => [notAccepted(outcome)],
};

const tightenedPolicy: Fault = {
  name: 'B11',
  promise: 'every process restarted with a network denied: no request reaches a webhook there',
  workers: 2,
  inFlight: 0,
  inject: async ({ world, pause, mark, note }) => {
    const [account] = world.accounts as [Account];
    let arrived = 0;
    const server = createServer((request, response) => {
      arrived += 1;
      request.resume();
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve));
    const { port } = server.address() as AddressInfo;
    const { webhookId } = await registerWebhook(account, `http://127.0.0.2:${port}/`);
    await pause(10_000);
    const before = arrived;
    await startAnew(world, { DENIED_NETWORKS: '127.0.0.2/32' });
    mark();
    arrived = 0;
    await pause(20_000);
    const [denied] = await world.postgres!.sql<{ attempts: number }>(
      `select count(*)::int as attempts from attempts join outbox using (delivery_id)
        where webhook_id = $1 and error_code = 'ADDRESS_DENIED'`,
      [webhookId],
    );
    await remove(account, [webhookId]);
    server.closeAllConnections();
    server.close();
    note({
      name: 'requests that reached the denied network',
      value: arrived,
      unit: '',
      atMost: 0,
      note: `${before} before`,
    });
    const none = denied!.attempts === 0 ? 1 : 0;
    note({ name: 'runs without a denied attempt', value: none, unit: '', atMost: 0 });
  },
  figures: () => [],
};

async function startAnew({ service }: World, settings: Record<string, string>): Promise<void> {
  for (const worker of service.workers.splice(0)) {
    await service.startWorker(settings);
    await service.end(worker, 'SIGTERM');
  }
  await service.end(service.api, 'SIGTERM');
  await service.startApi(settings);
}

export const egressFaults: Fault[] = [silentDns, webhookOnItself, tightenedPolicy, hugeResponses];
