import { afterAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fuzzSettings } from '../../programs/fuzz/deployment.js';
import { createFuzzer } from '../../programs/fuzz/fuzzer.js';
import { startServiceWith } from '../../support/harness.js';
import { until } from '../../support/until.js';

const service = await startServiceWith(fuzzSettings);
await until('ready', async () => (await fetch(`${service.url}/readyz`)).ok, 30_000);
afterAll(() => service.stop());

test('every request to any operation gets a documented response, never a 5xx', async () => {
  const { requests, probe } = await createFuzzer(service);
  await fc.assert(fc.asyncProperty(requests, probe), {
    numRuns: 400,
    seed: 1, // `npm run fuzz` uses others
    interruptAfterTimeLimit: 5_000,
    endOnFailure: true,
  });
  expect(service.process.output()).not.toMatch(/unexpected error|unhandled|"status":5\d\d/i);
}, 120_000);
