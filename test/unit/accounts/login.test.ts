import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate as tick } from 'node:timers/promises';
import { hashing } from '../../../src/accounts/credentials.js';
import { createLoginBudget } from '../../../src/accounts/login/limits.js';
import { createLoginLimits } from '../../../src/accounts/login/limits.js';
import { createRateLimits } from '../../../src/platform/limits/rate-limit.js';

describe('hashes', () => {
  /** Hashes are only recorded, in order. */
  function play() {
    const hashed: string[] = [];
    const limits = createLoginLimits({
      limits: createRateLimits(undefined, 'test'),
      perAccount: 100,
      failuresPerIp: 0,
      secret: 's',
      onLimited: () => undefined,
    });
    const login = (email: string, ip: string, who: { right: boolean; trusted: boolean }) =>
      limits
        .attempt(
          { keyHash: 'known', email, ip },
          {
            find: () => Promise.resolve({ user: who.right ? email : null, trusted: who.trusted }),
            verify: async (user) => {
              hashed.push(email);
              for (let n = 0; n < 5; n += 1) await tick(); // other logins arrive meanwhile
              return user !== null;
            },
            remember: () => Promise.resolve(true),
          },
        )
        .catch(() => null);
    return { hashed, login };
  }

  /** 40 logins in flight, with invented accounts under a known key, from 20 blocks. */
  function startCrowd(login: ReturnType<typeof play>['login']) {
    let over = false;
    let next = 0;
    const lane = async () => {
      while (!over) {
        const n = next++;
        await login(`invented${n}`, `198.51.100.${n % 20}`, { right: false, trusted: false });
        await tick();
      }
    };
    const lanes = Promise.all(Array.from({ length: 40 }, lane));
    return {
      stop: () => {
        over = true;
        return lanes;
      },
    };
  }

  const hashedAtLeast = async (hashed: string[], count: number) => {
    while (hashed.length < count) await tick();
  };

  async function waitedFor(hashed: string[], email: string, login: Promise<unknown>): Promise<number> {
    const before = hashed.length;
    expect(await login).toBe(email);
    return hashed.indexOf(email, before) - before;
  }

  describe('while 40 guesses under known keys are in flight', () => {
    test('a correct login from a recently used address waits for at most two hashes, from the start', async () => {
      const { hashed, login } = play();
      const crowd = startCrowd(login);
      await hashedAtLeast(hashed, 1);
      for (let n = 0; n < 30; n += 1) {
        const right = login(`user${n}`, `192.0.2.${n}`, { right: true, trusted: true });
        expect(await waitedFor(hashed, `user${n}`, right)).toBeLessThanOrEqual(2);
      }
      await crowd.stop();
      expect(hashing.waiting('anybody')).toBe(0);
    });

    test('one from a new block waits for few as soon as each of theirs has failed once', async () => {
      const { hashed, login } = play();
      const crowd = startCrowd(login);
      await hashedAtLeast(hashed, 60);
      for (let n = 0; n < 10; n += 1) {
        const right = login(`user${n}`, `192.0.2.${n}`, { right: true, trusted: false });
        expect(await waitedFor(hashed, `user${n}`, right)).toBeLessThanOrEqual(3);
      }
      await crowd.stop();
    });

    test('the guesses also proceed: no priority blocks the others', async () => {
      const { hashed, login } = play();
      const crowd = startCrowd(login);
      let over = false;
      const busy = Promise.all(
        Array.from({ length: 5 }, async (_, n) => {
          while (!over) await login(`user${n}`, `192.0.2.${n}`, { right: true, trusted: true });
        }),
      );
      const guesses = () => hashed.filter((email) => email.startsWith('invented')).length;
      while (guesses() < 100) await tick();
      over = true;
      await Promise.all([busy, crowd.stop()]);
      expect(guesses()).toBeGreaterThanOrEqual(100);
    });
  });
});

describe('budgets', () => {
  /** In sequence; returns how many of each block reached the hash. */
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
        { numRuns: 25 },
      );
    });

    test('after any guesses of nine strangers a new address still gets through', async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 20, max: 40 }), strangers, async (most, blocks) => {
          const through = await play(most, asStrangers([...blocks.map((block) => block % 9), 99]));
          expect(through.get(99)).toBe(1);
        }),
        { numRuns: 25 },
      );
    });

    test('a trusted block always has its full share, whatever strangers do, and no more', async () => {
      await fc.assert(
        fc.asyncProperty(perAccount, strangers, fc.nat({ max: 60 }), async (most, blocks, tries) => {
          const own = Array.from({ length: tries }, () => ({ block: 99, trusted: true }));
          const through = await play(most, [...asStrangers(blocks), ...own, ...asStrangers(blocks)]);
          expect(through.get(99) ?? 0).toBe(Math.min(most, tries));
        }),
        { numRuns: 25 },
      );
    });
  });
});
