import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { byteCount, parseByteCount } from '../../../src/platform/byte-count.js';

test.each([
  ['500GiB', 500 * 1024 ** 3],
  ['1.5TB', 1_500_000_000_000],
  ['800MB', 800_000_000],
  [' 1MiB ', 1_048_576],
])('%p is %d bytes', (text, bytes) => {
  expect(parseByteCount(text)).toBe(bytes);
});

test('any size is parsed back as it was written', () => {
  const bytes = { MB: 1e6, GB: 1e9, TB: 1e12, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 };
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 999_999 }),
      fc.constantFrom<keyof typeof bytes>('MB', 'GB', 'TB', 'MiB', 'GiB', 'TiB'),
      (count, unit) => expect(parseByteCount(`${count}${unit}`)).toBe(count * bytes[unit]),
    ),
  );
});

test('a size that is refused is told which form it must have', () => {
  const message = byteCount.safeParse('500 gigabytes').error?.issues[0]?.message;
  expect(message).toMatch(/1MiB to 1000TiB.*such as 500GiB/);
});
