import Sequencer from '@jest/test-sequencer';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const file = path.join(import.meta.dirname, 'durations.json');
const seconds = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
const nameOf = (test) => path.relative(import.meta.dirname, test.path);
const secondsOf = (test) => seconds[nameOf(test)] ?? Infinity;

/** These tests mostly wait; the others use the CPU. */
const waits = (test) => nameOf(test).startsWith(`flows${path.sep}`);

/**
 * Starts the longest tests first, so that none is left alone at the end; new files before all others. Waiting and
 * busy tests are interleaved: the next comes from the kind with the smaller share started so far. The longest waiting
 * tests begin halfway: beside the longest busy ones they would miss their times.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const longestFirst = [...tests].sort((a, b) => secondsOf(b) - secondsOf(a) || (a.path < b.path ? -1 : 1));
    const busy = inShares(longestFirst.filter((test) => !waits(test)));
    const waiting = inShares(longestFirst.filter(waits)).map(({ test, share }) => ({
      test,
      share: (share + 1 / 2) % 1,
    }));
    return [...busy, ...waiting].sort((a, b) => a.share - b.share).map(({ test }) => test);
  }
}

/** Adds to each test the share of its kind's total time that comes before it. */
function inShares(tests) {
  const known = tests.map((test) => Math.max(1, Math.min(secondsOf(test), 60)));
  const total = known.reduce((sum, one) => sum + one, 0);
  let before = 0;
  return tests.map((test, index) => {
    const share = before / total;
    before += known[index];
    return { test, share };
  });
}
