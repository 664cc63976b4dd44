import { readFileSync } from 'node:fs';

const commonLimit = 1_024;

export function openFilesLimit(): number {
  try {
    const limit = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === 'unlimited' ? Infinity : Number(limit ?? commonLimit);
  } catch {
    return commonLimit;
  }
}
