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
import { appendFileSync, existsSync, readFileSync, unlinkSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
parentPort.on('message', ${onMessage});
`,
  );
  return file;
}

const withMark = (mark: string, action: string) => `({ attempts }) => {
  for (const attempt of attempts) if (JSON.stringify(attempt).includes(${JSON.stringify(mark)})) ${action}
}`;

/** A thread is busy for `ms` when it is to send an attempt that has the mark. */
export const busyAt = (mark: string, ms: number): string =>
  withMark(mark, `for (const until = performance.now() + ${ms}; performance.now() < until; );`);

/** Takes the action for the first such attempt only, whatever thread has it. */
export const onceAt = (mark: string, action: string): string => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'once-')), 'done');
  const isFirst = `!existsSync(${JSON.stringify(file)})`;
  return withMark(mark, `if (${isFirst}) { appendFileSync(${JSON.stringify(file)}, ''); ${action} }`);
};
