import { setTimeout as sleep } from 'node:timers/promises';
import type { Engines } from './engines.js';

export interface Bench extends Engines {
  /** Reduced on slow machines. */
  scaled(count: number): number;
  say(line: string): void;
}

export interface Figure {
  name: string;
  value: number;
  unit: string;
  atMost?: number;
  note?: string;
}

export interface Scenario {
  name: string;
  promise: string;
  withStatements?: boolean;
  run(bench: Bench): Promise<Figure[]>;
}

export const holds = ({ value, atMost }: Figure): boolean => atMost === undefined || value <= atMost;

/** Resolves with the milliseconds that took; throws after `timeoutMs`. */
export async function until(
  what: string,
  timeoutMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<number> {
  const startedAt = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedAt > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(100);
  }
  return performance.now() - startedAt;
}
