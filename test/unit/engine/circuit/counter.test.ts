import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCircuitCounter } from '../../../../src/engine/circuit/counter.js';
import type { Outcomes } from '../../../../src/engine/circuit/rule.js';
import type { Claim } from '../../../../src/engine/outbox/types.js';
import { createLogger } from '../../../../src/platform/telemetry/logger.js';

const windowMs = 1_500;
const claim = { webhookId: 'webhook', troubled: false, isProbe: false } as Claim;

function makeCounter() {
  const told: Outcomes[] = [];
  const counter = createCircuitCounter({
    logger: createLogger('silent'),
    windowMs,
    countOutcomes: (outcomes) => Promise.resolve(void told.push(...outcomes.values())),
  });
  const note = (succeeded: boolean, count = 1) => {
    for (let n = 0; n < count; n += 1) counter.note(claim, succeeded, 0);
  };
  return { note, told, flushed: counter.flushed };
}

test('a failure is compared with the successes right before it, whenever the window began', async () => {
  const { note, told, flushed } = makeCounter();
  await sleep(windowMs * 0.8);
  note(true, 5);
  await sleep(windowMs * 0.4);
  note(false);
  await flushed();
  expect(told).toMatchObject([{ attempts: 6, failures: 1 }]);
  note(false);
  await flushed();
  expect(told[1]).toMatchObject({ attempts: 1, failures: 1, succeededAgoMs: null });
});

test('old successes do not count', async () => {
  const { note, told, flushed } = makeCounter();
  note(true, 5);
  await sleep(windowMs * 1.5);
  note(false);
  await flushed();
  expect(told).toMatchObject([{ attempts: 1, failures: 1, succeededAgoMs: null }]);
});
