import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProcess } from '../../../support/process.js';
import type { Span } from '../model.js';

/** The wall clocks of the service's processes; all others stay right. */
export interface Clocks {
  env: Record<string, string>;
  nodeOptions: string[];
  /** 0: right. */
  set(processes: RunningProcess[], offsetMs: number): Promise<void>;
  wrong(): Span[];
}

const heardWithinMs = 200;
const now = () => performance.timeOrigin + performance.now();

export function clocksIn(folder: string): Clocks {
  const clockFolder = join(folder, 'clocks');
  mkdirSync(clockFolder);
  const spans: Span[] = [];
  return {
    env: { CHAOS_CLOCK_FOLDER: clockFolder },
    nodeOptions: ['--import', new URL('./preload-clock.js', import.meta.url).href],
    set: async (processes, offsetMs) => {
      if (offsetMs !== 0) spans.push({ from: now(), to: Infinity });
      for (const running of processes) {
        writeFileSync(join(clockFolder, String(running.pid)), String(offsetMs));
        running.kill('SIGUSR2');
      }
      await sleep(heardWithinMs);
      if (offsetMs === 0) for (const span of spans) span.to = Math.min(span.to, now());
    },
    wrong: () => spans,
  };
}
