import type { Red } from './halves.js';
import type { Part } from './scenes/scene.js';
import { keyOf, type Told } from './watch.js';

export interface FirstRow {
  red: Red;
  panels: string[];
}

export function problemsOf(
  environments: Record<string, Part>,
  told: Told,
  firstRows: Record<string, FirstRow>,
): string[] {
  const problems: string[] = [];
  const expected = new Set<string>();
  for (const [environment, part] of Object.entries(environments)) {
    for (const [alertname, within] of Object.entries(part.told)) {
      const key = keyOf({ environment, alertname });
      expected.add(key);
      const at = told.get(key);
      if (at === undefined) problems.push(`${key} is not told`);
      else if (at > within) problems.push(`${key} is told after ${at.toFixed(1)} s, not within ${within} s`);
    }
    for (const alertname of Object.keys(part.mayBeTold ?? {}))
      expected.add(keyOf({ environment, alertname }));
    const row = firstRows[environment];
    if (row && row.red !== part.red)
      problems.push(
        `${environment}: red in the first row is ${row.red}, not ${part.red}${row.panels.length > 0 ? ` (${row.panels.join(', ')})` : ''}`,
      );
  }
  for (const [key, at] of told)
    if (!expected.has(key)) problems.push(`${key} is told after ${at.toFixed(1)} s, and is not to be`);
  return problems;
}

/** The last second in which anything is still expected. */
export const latest = (environments: Record<string, Part>): number =>
  Math.max(0, ...Object.values(environments).flatMap(({ told }) => Object.values(told)));

export const isComplete = (environments: Record<string, Part>, told: Told): boolean =>
  Object.entries(environments).every(([environment, part]) =>
    Object.keys(part.told).every((alertname) => told.has(keyOf({ environment, alertname }))),
  );
