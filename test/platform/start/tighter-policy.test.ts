import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectSuccess } from '../../support/expect.js';
import { placeOrder, registerAccount, registerWebhook, type Account } from '../../support/client.js';
import { accountAt } from '../../support/deployment.js';
import { startDnsServer, type DnsServer } from '../../support/dns-server.js';
import { startProcess, startServiceToBreak, stopProcess, type Service } from '../../support/harness.js';
import { trackingIdOf } from '../../support/load.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';

let service: Service;
let dns: DnsServer;
let receiver: Receiver;

const failures = (webhookId: string) =>
  service.sql(
    `select a.status_code as "statusCode", a.error_code as "errorCode"
       from attempts a join outbox o using (delivery_id) where o.webhook_id = $1`,
    [webhookId],
  );

const changes: [string, Record<string, string>][] = [
  ['http is off', { ALLOW_HTTP_TARGETS: 'false' }],
  ['private targets are off', { ALLOW_PRIVATE_TARGETS: 'false' }],
  ['its network is denied', { DENIED_NETWORKS: '127.0.0.0/8' }],
];
/** One for each change, all registered before the first. */
let shops: { account: Account; webhookIds: string[] }[];

beforeAll(async () => {
  dns = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }));
  receiver = await startReceiver();
  service = await startServiceToBreak({ DNS_SERVERS: dns.address, RETRY_SCHEDULE: '1h' });
  shops = await Promise.all(
    changes.map(async () => {
      const account = await registerAccount(service);
      const byAddress = await registerWebhook(account, receiver.url);
      const byName = await registerWebhook(account, receiver.url.replace('127.0.0.1', 'shop.example.org'));
      const before = await placeOrder(account);
      await receiver.waitFor(2, (received) => trackingIdOf(received) === before);
      return { account, webhookIds: [byAddress.webhookId, byName.webhookId] };
    }),
  );
});

afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await dns?.close();
});

test.each(changes)(
  'after a restart with a tighter policy (%s) existing webhooks get ADDRESS_DENIED attempts, and nothing arrives',
  async (_, change) => {
    const { account, webhookIds } = shops.pop()!;
    await stopProcess(service.process);
    service.process = await startProcess({ ...service.env, ...change });
    service.url = service.process.url;
    const there = accountAt(account, service);
    const after = await placeOrder(there);
    for (const webhookId of webhookIds) {
      await until('an attempt', async () => (await failures(webhookId)).length > 0);
      expect(await failures(webhookId)).toContainEqual(
        expect.objectContaining({ statusCode: null, errorCode: 'ADDRESS_DENIED' }),
      );
      expectSuccess(await there.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' }), 200);
    }
    expect(receiver.received.filter((received) => trackingIdOf(received) === after)).toEqual([]);
  },
);
