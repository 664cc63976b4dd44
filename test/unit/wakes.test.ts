import { afterEach, expect, test } from '@jest/globals';
import { createWakes, type Wakes } from '../../src/deliveries/dispatch/wakes.js';

let wakes: Wakes;
afterEach(() => wakes.stop());

const minuteMs = 60_000;

test('a retry that is due soon has its timer, however many wait for hours', async () => {
  const looked = new Promise<string[]>((resolve) => (wakes = createWakes(resolve)));
  for (let n = 0; n < 3_000; n += 1) wakes.at(30 * minuteMs + n * 1_000, `late ${n}`);
  wakes.at(50, 'soon');
  expect(await looked).toEqual(['soon']);
});

test('retries of one moment share a timer, and each webhook is told of once', async () => {
  const looked = new Promise<string[]>((resolve) => (wakes = createWakes(resolve)));
  const toNextMs = 100 - (performance.now() % 100);
  for (const webhookId of ['a', 'b', 'a']) wakes.at(toNextMs + 50, webhookId);
  expect(await looked).toEqual(['a', 'b']);
});
