import Sequencer from '@jest/test-sequencer';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const file = path.join(import.meta.dirname, 'durations.json');
const seconds = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};

/** What takes longest starts first, so that no worker is left with it in the end; new files before all others. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const lasts = (test) => seconds[path.relative(import.meta.dirname, test.path)] ?? Infinity;
    return [...tests].sort((a, b) => lasts(b) - lasts(a) || (a.path < b.path ? -1 : 1));
  }
}
