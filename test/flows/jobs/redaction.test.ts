import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, type Socket } from 'node:net';
import {
  metricsOf,
  basic,
  operator,
  registerAccount,
  registerWebhook,
  request,
  sampleOrder,
  type Account,
} from '../../support/client.js';
import {
  operatorToken,
  queue,
  startProcess,
  startServiceOfRole,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';

/** Personal data that may appear in the order only. */
const personal = {
  name: 'Canaria Nombre-Secreto',
  phone: '5599887766',
  street: 'Calle del Canario',
  notes: 'canary-notes behind the door',
  reference: 'canary-reference',
  email: 'canary.recipient@example.com',
  description: 'canary-contents of the parcel',
};

const order = () => {
  const sample = sampleOrder();
  return {
    ...sample,
    recipientLocation: {
      ...sample.recipientLocation,
      street: personal.street,
      notes: personal.notes,
      reference: personal.reference,
    },
    recipientInformation: { fullName: personal.name, phone: personal.phone, email: personal.email },
    package: { ...sample.package, description: personal.description },
  };
};

let service: Service;
let worker: RunningProcess;
let account: Account;
let receiver: Receiver;
let monitor: Socket | undefined;
let redisTraffic = '';

beforeAll(async () => {
  if (queue === 'redis') {
    // A plain socket, because ioredis takes what arrives together with the reply to MONITOR for an error.
    const { hostname, port } = new URL(process.env.TEST_REDIS_URL!);
    monitor = connect(Number(port), hostname);
    monitor.on('data', (chunk) => (redisTraffic += chunk.toString('latin1')));
    monitor.write('MONITOR\r\n');
    await until('Redis is monitored', () => redisTraffic.startsWith('+OK'));
  }
  service = await startServiceOfRole('api', { LOG_LEVEL: 'trace', RETRY_SCHEDULE: '100ms' });
  worker = await startProcess(service.env, 'worker');
  account = await registerAccount(service);
  receiver = await startReceiver(() => ({ status: 500, body: `echo ${personal.name}` }));
});
afterAll(async () => {
  monitor?.destroy();
  await receiver?.close();
  if (worker) await stopProcess(worker);
  await service?.stop();
});

test('no name, phone, address, secret, token or password is in a log line, a metric or a job', async () => {
  const { webhookId, secret } = await registerWebhook(
    account,
    `${receiver.url}/canary-path?token=canary-query`,
    {
      headers: { 'x-own': 'canary-header' },
    },
  );
  const placed = await account.call('/v1/shipments', {
    body: order(),
    headers: { 'idempotency-key': 'canary-idempotency-key' },
  });
  expect(placed.httpStatus).toBe(201);
  await receiver.waitFor(2); // the first attempt and the retry
  await untilLoggedAsFailed(1);
  const trackingId = placed.data.trackingId as string;
  const stored = await account.call(`/v1/shipments/${trackingId}`);
  expect(stored.data.recipientInformation.fullName).toBe(personal.name);
  await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } });
  await receiver.waitFor(4);
  await untilLoggedAsFailed(2);
  const rotated = await account.call(`/v1/webhooks/${webhookId}/rotate-secret`, { method: 'POST' });
  await account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
  await provokeErrors();
  const link = await operator(service, `/users/${account.userId}/password-link`, { method: 'POST' });
  const linkToken =
    new URL(link.data.setPasswordUrl as string).search || (link.data.setPasswordUrl as string);
  await fetch(link.data.setPasswordUrl as string);
  const secrets = {
    ...personal,
    idempotencyKey: 'canary-idempotency-key',
    webhookSecret: secret,
    rotatedSecret: rotated.data.secret as string,
    targetQuery: 'canary-query',
    ownHeader: 'canary-header',
    accountKey: account.accountKey,
    password: account.password,
    login: account.email,
    basic: basic(account.email, account.password).slice(6),
    bearer: account.token,
    operatorToken,
    linkToken,
  };
  const metrics = await Promise.all([service, worker].map(metricsOf));
  const places = {
    log: service.process.output() + worker.output(),
    metrics: metrics.join('\n'),
    redis: redisTraffic,
  };
  const hits = Object.entries(places).flatMap(([place, text]) =>
    Object.entries(secrets).flatMap(([what, value]) => (text.includes(value) ? [`${what} in ${place}`] : [])),
  );
  expect(hits).toEqual([]);
  expect(places.log).toContain('"msg":"attempt"');
  if (queue === 'redis') expect(redisTraffic).toContain(webhookId);
});

const untilLoggedAsFailed = (count: number) =>
  until('the end of the delivery is logged', () => worker.output().split('"status":"FAILED"').length > count);

/** The log must not repeat their values. */
async function provokeErrors(): Promise<void> {
  const headers = { authorization: `Bearer ${account.token}x` };
  const wrong = {
    ...order(),
    recipientInformation: { fullName: personal.name, phone: `${personal.phone}-x` },
  };
  await account.call('/v1/shipments', { body: wrong });
  await account.call('/v1/shipments', { raw: `{"fullName": "${personal.name}", ` });
  await account.call(`/v1/shipment-tracking/${encodeURIComponent(personal.name)}`);
  await request(`${service.url}/v1/webhooks?key=${account.accountKey}`, { headers });
  await request(`${service.url}/v1/${encodeURIComponent(personal.name)}?key=${account.accountKey}`);
  await request(`${service.url}/v1/login?key=${account.accountKey}`, {
    headers: { authorization: basic(account.email, `${account.password}-wrong`) },
  });
  await operator(service, '/shippers', { body: { name: 7, password: account.password } });
}
