import { describe, expect, test } from '@jest/globals';
import { Lag, Use } from '../../../src/platform/database/replica.js';

describe('the age of what a standby shows', () => {
  const observed = (observations: [number, bigint, bigint][]) => {
    const lag = new Lag();
    return observations.map((each) => lag.observe(...each)).at(-1);
  };

  test.each<[string, number | null, [number, bigint, bigint][]]>([
    ['is nothing while it has what the primary has', 0, [[0, 5n, 5n]]],
    [
      'is the time since the primary was last where it is',
      4_000,
      [
        [0, 5n, 5n],
        [2_000, 9n, 7n],
        [4_000, 12n, 8n],
      ],
    ],
    [
      'does not grow while nothing is written, however old the last commit is',
      0,
      [
        [0, 5n, 5n],
        [60_000, 5n, 5n],
      ],
    ],
    [
      'grows if it receives nothing more, although it has replayed all that it received',
      30_000,
      [
        [0, 5n, 5n],
        [30_000, 6n, 5n],
      ],
    ],
    [
      'is not known at the start',
      null,
      [
        [0, 5n, 4n],
        [10_000, 6n, 4n],
      ],
    ],
    [
      'is too great if it has not caught up ten seconds later',
      Infinity,
      [
        [0, 5n, 4n],
        [10_001, 6n, 4n],
      ],
    ],
  ])('%s', (_, expected, observations) => expect(observed(observations)).toBe(expected));

  test('takes a few positions only, however long it stays away', () => {
    const lag = new Lag();
    for (let n = 0; n < 10_000; n += 1) lag.observe(n * 2_000, BigInt(10 + n), 1n);
    expect((lag as unknown as { positions: unknown[] }).positions.length).toBeLessThanOrEqual(7);
  });
});

describe('a standby', () => {
  const judged = (...lags: [seconds: number, lagSeconds: number][]) => {
    const use = new Use();
    return lags.map(([at, lag]) => {
      use.judge(at * 1_000, lag * 1_000);
      return use.isOn;
    });
  };

  test('is used as soon as it is seen to keep up, and left once it is more than ten seconds behind', () => {
    expect(judged([0, 0], [2, 10], [4, 10.1])).toEqual([true, true, false]);
  });

  test('is used again only after it has kept up for thirty seconds on end', () => {
    const back = judged([0, 0], [2, 11], [4, 0], [32, 0], [33, 11], [34, 0], [63, 0], [64, 0]);
    expect(back).toEqual([true, false, false, false, false, false, false, true]);
  });
});
