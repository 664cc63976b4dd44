import Sequencer from '@jest/test-sequencer';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Tests of flows and of whole processes mostly wait; the others use the CPU. */
const waits = (test) =>
  /^(flows|platform)$/.test(path.relative(import.meta.dirname, test.path).split(path.sep)[0]);

/** The timeout of most files. */
const usualSeconds = 60;

/** The timeout of the slowest test, in seconds, as the file has it: `}, 240_000);` */
const slowestSeconds = (text) =>
  Math.max(
    usualSeconds,
    ...[...text.matchAll(/(?:\}, |^\s+)(\d+)_000,?\s*\);$/gm)].map(([, s]) => Number(s)),
  );

/**
 * The slowest file of each kind first, by its longest timeout, then by its size; both kinds advance in proportion, so
 * that some always wait while others work.
 */
export default class Interleaved extends Sequencer {
  sort(tests) {
    const slowestFirst = tests
      .map((test) => {
        const text = readFileSync(test.path, 'utf8');
        return { test, seconds: slowestSeconds(text), length: text.length };
      })
      .sort((a, b) => b.seconds - a.seconds || b.length - a.length || (a.test.path < b.test.path ? -1 : 1))
      .map(({ test }) => test);
    const inShares = (kind) => kind.map((test, index) => ({ test, share: index / kind.length }));
    return [...inShares(slowestFirst.filter((test) => !waits(test))), ...inShares(slowestFirst.filter(waits))]
      .sort((a, b) => a.share - b.share)
      .map(({ test }) => test);
  }
}
