import { afterEach, expect, test } from '@jest/globals';
import { createRetries, type Retries } from '../../../../src/engine/settle/settler.js';
import type { Due } from '../../../../src/engine/outbox/types.js';

let retries: Retries;
afterEach(() => retries.stop());

const due = (webhookId: string): Due => ({ webhookId, dueFromMs: null });

const minuteMs = 60_000;

test('a retry that is due soon has its timer, however many wait for hours', async () => {
  const looked = new Promise<Due[]>((resolve) => (retries = createRetries(resolve)));
  for (let n = 0; n < 3_000; n += 1) retries.at(30 * minuteMs + n * 1_000, due(`late ${n}`));
  retries.at(50, due('soon'));
  expect(await looked).toEqual([due('soon')]);
});

test('retries due at the same time share a timer', async () => {
  const looked = new Promise<Due[]>((resolve) => (retries = createRetries(resolve)));
  const toNextMs = 100 - (performance.now() % 100);
  for (const webhookId of ['a', 'b', 'a']) retries.at(toNextMs + 50, due(webhookId));
  expect(await looked).toEqual(['a', 'b', 'a'].map(due));
});
