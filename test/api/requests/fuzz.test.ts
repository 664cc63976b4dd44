import { afterAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { registerAccount, sampleOrder } from '../../support/client.js';
import { fuzzSettings } from '../../programs/fuzz/deployment.js';
import { createFuzzer } from '../../programs/fuzz/fuzzer.js';
import { startServiceWith } from '../../support/harness.js';
import { expectFailure } from '../../support/expect.js';
import { until } from '../../support/until.js';

const service = await startServiceWith(fuzzSettings);
await until('ready', async () => (await fetch(`${service.url}/readyz`)).ok, 30_000);
const account = await registerAccount(service);
afterAll(() => service.stop());

/** Hostile, or almost valid. */
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
    { endOnFailure: true, numRuns: 150 },
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
