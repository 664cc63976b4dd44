import { afterAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  operator,
  registerAccount,
  registerWebhook,
  sampleOrder,
  type ApiResponse,
} from '../../support/client.js';
import { fuzzSettings } from '../../programs/fuzz/deployment.js';
import { createFuzzer } from '../../programs/fuzz/fuzzer.js';
import { startServiceWith } from '../../support/harness.js';
import { expectFailure } from '../../support/expect.js';

const service = await startServiceWith(fuzzSettings);
const account = await registerAccount(service);
const { webhookId } = await registerWebhook(account, 'https://example.org/hook');
afterAll(() => service.stop());

const rows = () =>
  service.sql(`select (select count(*) from shippers) as shippers, (select count(*) from users) as users,
                      (select count(*) from shipments) as shipments,
                      (select count(*) from events where state <> 'CREATED') as events,
                      (select json_agg(w order by webhook_id) from webhooks w)::text as webhooks`);
const runs = { numRuns: 60, endOnFailure: true };

/** Any JSON, biased towards known names and almost valid values. */
const names = fc.constantFrom(
  ...['interests', 'targetAddress', 'status', 'headers', 'name', 'email', 'state', 'events', 'trackingId'],
  ...['recipientLocation', 'package', 'items', '__proto__', 'constructor', 'toString', 'evidences'],
);
const leaf = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'CREATED',
    '*',
    'ACTIVE',
    'https://',
    'http://[::1',
    '\u0000',
    '\ud800',
    '1e999',
    '',
    'x@y',
  ),
  fc.constantFrom(0, -1, 2 ** 53, Number.MAX_VALUE, 1.5),
);
const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(names, fc.string()), tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
})).value;

type Send = (body: unknown) => Promise<ApiResponse>;
const routes: [string, Send][] = [
  ['POST /v1/shipments', (body) => account.call('/v1/shipments', { body })],
  ['POST /v1/webhooks', (body) => account.call('/v1/webhooks', { body })],
  ['PATCH /v1/webhooks/{webhookId}', (body) => patchWebhook(body)],
  ['POST /operator/v1/shippers/{shipperId}/users', (body) => postUser(body)],
  [
    'POST /operator/v1/shipments/{trackingId}/events',
    (body) => operator(service, '/shipments/PH1/events', { body }),
  ],
  ['POST /operator/v1/events', (body) => operator(service, '/events', { body: { events: [body] } })],
];
const patchWebhook: Send = (body) => account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body });
const postUser: Send = (body) => operator(service, `/shippers/${account.shipperId}/users`, { body });

test.each(routes)('%s: random JSON never causes a 5xx, and refused input writes nothing', async (_, send) => {
  await fc.assert(
    fc.asyncProperty(anyJson, async (body) => {
      const before = await rows();
      const response = await send(body);
      if (response.httpStatus < 300) return;
      expect([400, 404]).toContain(response.httpStatus);
      expectFailure(response, response.httpStatus);
      expect(await rows()).toEqual(before);
    }),
    runs,
  );
});

test('an order with any one field replaced is either accepted or returns 400 naming that field', async () => {
  const paths = Object.entries(sampleOrder()).flatMap(([name, value]) =>
    typeof value === 'object' ? Object.keys(value).map((inner) => [name, inner]) : [[name]],
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), leaf, async (path, value) => {
      const order = structuredClone(sampleOrder()) as Record<string, unknown>;
      const target = path.length > 1 ? (order[path[0]!] as Record<string, unknown>) : order;
      target[path.at(-1)!] = value;
      const response = await account.call('/v1/shipments', { body: order });
      if (response.httpStatus === 201) return;
      expectFailure(response, 400);
      for (const detail of response.body.error.details ?? [])
        expect(detail.path).toMatch(`${path.join('.')}`);
    }),
    { ...runs, numRuns: 150 },
  );
});

test('every request to any operation gets a documented response, never a 5xx', async () => {
  const { requests, probe } = await createFuzzer(service);
  await fc.assert(fc.asyncProperty(requests, probe), {
    numRuns: 400,
    seed: 1, // `npm run fuzz` uses others
    interruptAfterTimeLimit: 5_000,
    endOnFailure: true,
  });
  expect(service.process.output()).not.toMatch(/unexpected error|unhandled|"status":5\d\d/i);
});
