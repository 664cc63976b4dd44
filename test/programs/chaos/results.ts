import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { holds } from '../bench/scenarios/scenario.js';
import type { Result } from './run.js';

export interface RunKey {
  fault: string;
  queue: string;
  seed: number;
  eventsPerSecond: number;
  seconds: number;
  scale: number;
}

export type Finished = Omit<RunKey, 'seconds'> & { loadSeconds: number } & Result;

export const isNotRun = ({ notRun }: Result): boolean => notRun !== undefined;
export const isGood = ({ violations, figures }: Result): boolean =>
  violations.length === 0 && figures.every(holds);

/** One line each, written when the run is over. */
export function resultsIn(file: string | undefined) {
  const text = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : '';
  const earlier = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Finished);
  return {
    find: (key: RunKey): Finished | undefined =>
      earlier.find(
        (one) =>
          one.fault === key.fault &&
          one.queue === key.queue &&
          one.seed === key.seed &&
          one.eventsPerSecond === key.eventsPerSecond &&
          one.loadSeconds === key.seconds &&
          one.scale === key.scale,
      ),
    add: ({ eventsPerSecond, seconds, scale }: RunKey, result: Result): void => {
      const finished: Finished = { ...result, eventsPerSecond, loadSeconds: seconds, scale };
      if (file !== undefined) appendFileSync(file, `${JSON.stringify(finished)}\n`);
    },
  };
}
