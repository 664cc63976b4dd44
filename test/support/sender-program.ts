import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packageFolder } from '../../src/platform/version.js';

/**
 * The program of a sender thread with faults of its own. `onMessage` is the text of a function; it gets each message
 * after the real program.
 */
export function programWith(onMessage: string): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'sender-')), 'sender.mjs');
  writeFileSync(
    file,
    `import ${JSON.stringify(path.join(packageFolder, 'dist/sender.js'))};
import { appendFileSync, readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
parentPort.on('message', ${onMessage});
`,
  );
  return file;
}

/** The threads do nothing but this, for so long, when they are to send such an event. */
export const busyWith = (eventId: string, ms: number): string => `({ attempts }) => {
  for (const attempt of attempts)
    if (attempt.includes(${JSON.stringify(eventId)}))
      for (const until = performance.now() + ${ms}; performance.now() < until; );
}`;

export const exitWith = (eventId: string, afterMs: number): string => `({ attempts }) => {
  if (attempts.some((attempt) => attempt.includes(${JSON.stringify(eventId)})))
    setTimeout(() => process.exit(1), ${afterMs});
}`;
