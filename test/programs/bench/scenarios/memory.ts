import { setTimeout as sleep } from 'node:timers/promises';
import { rssMb } from '../processes.js';
import { median } from '../percentiles.js';

/** The median of five seconds after ten. */
export async function settledRssMb(pid: number): Promise<number> {
  await sleep(10_000);
  const watch = watchMemory(pid);
  await sleep(5_000);
  return median(watch.stop());
}

/** Ten times a second; `stop` returns MB. */
export function watchMemory(pid: number): { stop(): number[] } {
  const seen = [rssMb(pid)];
  const timer = setInterval(() => seen.push(rssMb(pid)), 100);
  return {
    stop: () => {
      clearInterval(timer);
      return seen;
    },
  };
}

/** Four times a second. */
export function watchPeak(look: () => Promise<number>): { stop(): Promise<number> } {
  let peak = -Infinity;
  let stopped = false;
  const run = async () => {
    while (!stopped) {
      peak = Math.max(peak, await look());
      await sleep(250);
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopped = true;
      await running;
      return peak;
    },
  };
}
