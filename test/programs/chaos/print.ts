import { holds } from '../bench/scenarios/scenario.js';
import type { Result } from './run.js';

const shown = 10;

export function printTable(result: Result): void {
  const { fault, promise, queue, seed, seconds, events, notifications, figures, violations } = result;
  console.log(`\n${fault}, queue on ${queue}, seed ${seed}, ${seconds} s\n${promise}`);
  if (result.notRun !== undefined) return console.log(`  NOT RUN: ${result.notRun}`);
  console.log(`  ${events} events accepted, ${notifications} notifications received`);
  for (const figure of figures) {
    const bound =
      figure.atMost === undefined ? '' : `≤ ${figure.atMost}  ${holds(figure) ? 'holds' : 'MISSED'}`;
    const value = `${Math.round(figure.value * 10) / 10} ${figure.unit}`;
    console.log(
      `  ${figure.name.padEnd(58)}${value.padEnd(14)}${bound.padEnd(18)}${figure.note ?? ''}`.trimEnd(),
    );
  }
  if (violations.length === 0) console.log('  every invariant holds');
  for (const { invariant, what } of violations.slice(0, shown))
    console.log(`  VIOLATED ${invariant}: ${what}`);
  if (violations.length > shown) console.log(`  … and ${violations.length - shown} more`);
}
