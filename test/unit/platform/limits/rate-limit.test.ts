import { expect, test } from '@jest/globals';
import { createRateLimits } from '../../../../src/platform/limits/rate-limit.js';

test('a local count ends with its window, for up to 20,000 keys', async () => {
  const { limit } = createRateLimits(undefined, 'test');
  const short = limit({ name: 'short', points: 5, windowSeconds: 0.05 });
  expect((await short.spend('a', 7)).left).toBe(-2);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(await short.balance('a')).toEqual({ left: 5, resetMs: 0 });

  const long = limit({ name: 'long', points: 5, windowSeconds: 3_600 });
  for (let n = 0; n <= 20_000; n += 1) await long.spend(`stranger ${n}`);
  expect((await long.balance('stranger 0')).left).toBe(5);
  expect((await long.balance('stranger 1')).left).toBe(4);
});
