/**
 * `node test/write-durations.js <results of npm test -- --json>`: stores the duration of each file, to order the next
 * run.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const durations = {};
const tests = `${path.sep}test${path.sep}`; // the results may come from another checkout
for (const { name, startTime, endTime } of testResults) {
  const file = name.slice(name.lastIndexOf(tests) + tests.length);
  durations[file] = Math.max(durations[file] ?? 0, Math.round((endTime - startTime) / 1000));
}
const longestFirst = Object.entries(durations).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
writeFileSync(
  path.join(import.meta.dirname, 'durations.json'),
  `${JSON.stringify(Object.fromEntries(longestFirst), null, 2)}\n`,
);
