import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProcess } from '../../../support/process.js';

/** The wall clocks of the service's processes; all others stay right. */
export interface Clocks {
  env: Record<string, string>;
  nodeOptions: string[];
  /** 0: right. */
  set(processes: RunningProcess[], offsetMs: number): Promise<void>;
}

const heardWithinMs = 200;

/** Node's options for a process whose clock is to be set. */
export const clockOptions = ['--import', new URL('./preload-clock.js', import.meta.url).href];

export function clocksIn(folder: string): Clocks {
  const clockFolder = join(folder, 'clocks');
  mkdirSync(clockFolder);
  return {
    env: { CHAOS_CLOCK_FOLDER: clockFolder },
    nodeOptions: clockOptions,
    set: async (processes, offsetMs) => {
      for (const running of processes) {
        writeFileSync(join(clockFolder, String(running.pid)), String(offsetMs));
        running.kill('SIGUSR2');
      }
      await sleep(heardWithinMs);
    },
  };
}
