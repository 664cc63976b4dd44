import { setTimeout as sleep } from 'node:timers/promises';
import type { Engines } from './engines.js';

export interface Bench extends Engines {
  /** A count or rate, reduced on slow machines. */
  scaled(count: number): number;
  say(line: string): void;
}

export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** The limit, if there is one. */
  atMost?: number;
  /** Other observations. */
  note?: string;
}

export interface Scenario {
  name: string;
  /** The requirement, in one line. */
  promise: string;
  /** PostgreSQL counts its statements. */
  withStatements?: boolean;
  run(bench: Bench): Promise<Figure[]>;
}

export const holds = ({ value, atMost }: Figure): boolean => atMost === undefined || value <= atMost;

/** Resolves with the milliseconds until `condition` held; throws after `timeoutMs`. */
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
