import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programWith } from '../../../support/sender-program.js';
import { until } from '../../../support/until.js';
import { allThereWithin, goesOnWithin, notAccepted, respondedWithin } from './figures.js';
import type { Fault } from './fault.js';

const stuckMs = 10_000;
/** It is stuck after 5 s without a sign of life, and replaced within a second. */
const replacedWithinMs = 6_000;
const ourLookMs = 500;

const faults = {
  exit: 'process.exit(1);',
  stuck: `for (const until = performance.now() + ${stuckMs}; performance.now() < until; );`,
  memory: 'for (const kept = []; ; ) kept.push(new Array(1_000_000).fill(kept.length));',
};

/** The first thread that gets an attempt once `trigger` exists has the fault that is written there. */
const onMessage = (trigger: string) => `({ attempts }) => {
  if (attempts.length === 0 || !existsSync(${JSON.stringify(trigger)})) return;
  let fault;
  try {
    fault = readFileSync(${JSON.stringify(trigger)}, 'utf8');
    unlinkSync(${JSON.stringify(trigger)});
  } catch {
    return; // another thread was first
  }
  ${Object.entries(faults)
    .map(([name, action]) => `if (fault === '${name}') { ${action} }`)
    .join('\n  ')}
}`;

const senderThreads: Fault = {
  name: 'B31',
  promise:
    'a sender thread exits, is stuck for 10 s, runs out of memory: replaced within 1 s, if stuck after 5 s; repeated is at most what it had in flight; orders p99 ≤ 250 ms',
  workers: 2,
  inFlight: 0,
  inject: async ({ world: { service, postgres }, pause, mark, note, mayRepeat }) => {
    const trigger = join(mkdtempSync(join(tmpdir(), 'chaos-')), 'fault');
    const settings = {
      NODE_OPTIONS: `--import ${new URL('../world/preload-sender.js', import.meta.url).href}`,
      CHAOS_SENDER: programWith(onMessage(trigger)),
    };
    for (const worker of service.workers.splice(0)) {
      await service.startWorker(settings);
      await service.end(worker, 'SIGTERM');
    }
    // A thread that is out of memory may be too busy with that to end by itself.
    const endedCount = () => service.output().split('"msg":"sender thread ended').length - 1;
    for (const fault of Object.keys(faults)) {
      const before = endedCount();
      writeFileSync(trigger, fault);
      await until(`a thread has the fault ${fault}`, () => !existsSync(trigger), 60_000);
      mark();
      note({
        name: `replaced (${fault}) after`,
        value: await until(`the thread has ended (${fault})`, () => endedCount() > before, 60_000),
        unit: 'ms',
        atMost: replacedWithinMs + ourLookMs,
      });
      await pause(10_000);
    }
    const [lost] = await postgres!.sql<{ count: number }>(
      `select count(*)::int as count from attempts where error_code = 'LOST'`,
    );
    mayRepeat(lost!.count);
    note({ name: 'attempts lost with their thread', value: lost!.count, unit: '' });
  },
  figures: (outcome) => [
    respondedWithin(outcome, 250),
    notAccepted(outcome),
    goesOnWithin(outcome, 10_000),
    allThereWithin(outcome, 15_000),
  ],
};

export const senderThreadFaults: Fault[] = [senderThreads];
