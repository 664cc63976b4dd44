import { readFileSync } from 'node:fs';

const usualLimit = 1_024;

/** How many files and connections this process may have open (`ulimit -n`); where no `/proc` tells, the least usual. */
export function openFilesLimit(): number {
  try {
    const limit = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === 'unlimited' ? Infinity : Number(limit ?? usualLimit);
  } catch {
    return usualLimit;
  }
}
