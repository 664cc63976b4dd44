import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLoginBudget } from '../../../../src/accounts/login/budget.js';
import { createRateLimits } from '../../../../src/platform/limits/rate-limit.js';

/** Tries in sequence; returns how many of each block reached the hash. */
async function play(perAccount: number, tries: { block: number; trusted: boolean }[]) {
  const budget = createLoginBudget(createRateLimits(undefined, 'test'), perAccount);
  const through = new Map<number, number>();
  for (const { block, trusted } of tries) {
    const who = { account: 'a', pair: String(block), trusted };
    if ((await budget.check(who)) ?? (await budget.spend(who))) continue;
    through.set(block, (through.get(block) ?? 0) + 1);
  }
  return through;
}

const perAccount = fc.integer({ min: 1, max: 40 });
const strangers = fc.array(fc.nat({ max: 60 }), { maxLength: 150 });
const asStrangers = (blocks: number[]) => blocks.map((block) => ({ block, trusted: false }));
const sum = (through: Map<number, number>) => [...through.values()].reduce((all, n) => all + n, 0);

describe('login attempts of an account that reach the hash', () => {
  test('strangers share at most LOGIN_LIMIT_ACCOUNT, and each gets a quarter', async () => {
    await fc.assert(
      fc.asyncProperty(perAccount, strangers, async (most, blocks) => {
        const through = await play(most, asStrangers(blocks));
        expect(sum(through)).toBeLessThanOrEqual(most);
        for (const count of through.values()) expect(count).toBeLessThanOrEqual(Math.ceil(most / 4));
      }),
    );
  });

  test('after any guesses of nine strangers a new address still gets through', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 20, max: 40 }), strangers, async (most, blocks) => {
        const through = await play(most, asStrangers([...blocks.map((block) => block % 9), 99]));
        expect(through.get(99)).toBe(1);
      }),
    );
  });

  test('a trusted block always has its full share, whatever strangers do, and no more', async () => {
    await fc.assert(
      fc.asyncProperty(perAccount, strangers, fc.nat({ max: 60 }), async (most, blocks, tries) => {
        const own = Array.from({ length: tries }, () => ({ block: 99, trusted: true }));
        const through = await play(most, [...asStrangers(blocks), ...own, ...asStrangers(blocks)]);
        expect(through.get(99) ?? 0).toBe(Math.min(most, tries));
      }),
    );
  });
});
