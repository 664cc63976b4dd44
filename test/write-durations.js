/** `node test/write-durations.js <results of npm test -- --json>`: how long each file takes, for the order of the next run. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const durations = {};
for (const { name, startTime, endTime } of testResults) {
  const file = path.relative(import.meta.dirname, name);
  durations[file] = Math.max(durations[file] ?? 0, Math.round((endTime - startTime) / 1000));
}
const longestFirst = Object.entries(durations).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
writeFileSync(
  path.join(import.meta.dirname, 'durations.json'),
  `${JSON.stringify(Object.fromEntries(longestFirst), null, 2)}\n`,
);
