import Sequencer from '@jest/test-sequencer';
import { statSync } from 'node:fs';
import path from 'node:path';

/** Tests of flows mostly wait; the others use the CPU. */
const waits = (test) => path.relative(import.meta.dirname, test.path).startsWith(`flows${path.sep}`);

/** The largest file of each kind first; both kinds advance in proportion, so that some always wait while others work. */
export default class Interleaved extends Sequencer {
  sort(tests) {
    const largestFirst = tests
      .map((test) => ({ test, bytes: statSync(test.path).size }))
      .sort((a, b) => b.bytes - a.bytes || (a.test.path < b.test.path ? -1 : 1))
      .map(({ test }) => test);
    const inShares = (kind) => kind.map((test, index) => ({ test, share: index / kind.length }));
    return [...inShares(largestFirst.filter((test) => !waits(test))), ...inShares(largestFirst.filter(waits))]
      .sort((a, b) => a.share - b.share)
      .map(({ test }) => test);
  }
}
