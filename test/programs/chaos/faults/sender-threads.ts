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
  memory: 'for (const kept = []; ; ) kept.push(new Array(100_000).fill(kept.length));',
};
const causes = Object.keys(faults) as (keyof typeof faults)[];

/** The first thread that gets a message once `trigger` exists has the fault that is written there. */
const onMessage = (trigger: string) => `() => {
  if (!existsSync(${JSON.stringify(trigger)})) return;
  let fault;
  try {
    fault = readFileSync(${JSON.stringify(trigger)}, 'utf8');
    unlinkSync(${JSON.stringify(trigger)});
  } catch {
    return; // another thread was first
  }
  ${causes.map((cause) => `if (fault === '${cause}') { ${faults[cause]} }`).join('\n  ')}
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
    const endedBy = (cause: string) => service.output().split(`"cause":"${cause}"`).length - 1;
    for (const cause of causes) {
      const before = endedBy(cause);
      writeFileSync(trigger, cause);
      await until('a thread has it', () => !existsSync(trigger), 30_000);
      mark();
      const endedAfter = await until('the thread has ended', () => endedBy(cause) > before, 60_000);
      const atMost = cause === 'memory' ? undefined : replacedWithinMs + ourLookMs;
      note({ name: `replaced (${cause}) after`, value: endedAfter, unit: 'ms', ...(atMost && { atMost }) });
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
