import type { Details } from './figures.js';
import type { Report, Row, Summary } from './report.js';

const nameWidth = 46;
const columnWidth = 26;

/** A line per figure, a column per system, and the ratio. */
export function printReport(report: Report, titles: ReadonlyMap<string, string>): void {
  const { machine, systems, ceiling } = report;
  console.log(`\n${machine.cores} × ${machine.cpu}`);
  for (const { name, dist, node, postgres, redis } of systems)
    console.log(`${name}: ${dist}, Node ${node}, PostgreSQL ${postgres}, Redis ${redis ?? 'none'}`);
  if (ceiling)
    console.log(
      `ceiling (bare node:http poster): ${Math.round(ceiling.perSecond)}/s, ${Math.round(ceiling.cpuUs)} µs a post`,
    );
  let phase = '';
  for (const rows of byLoad(report.rows)) {
    if (rows[0]!.phase !== phase) {
      phase = rows[0]!.phase;
      console.log(`\n== ${phase}: ${titles.get(phase)}`);
    }
    printLoad(rows);
  }
  for (const { phase: of, case: title, system, message } of report.failures)
    console.log(`\nFAILED ${of}, ${title}, ${system}:\n${message}`);
}

function byLoad(rows: Row[]): Row[][] {
  const groups = new Map<string, Row[]>();
  const places = new Map<string, number>();
  for (const row of rows) {
    const ofSystem = [row.phase, row.case, row.system].join('\n');
    const place = places.get(ofSystem) ?? 0;
    places.set(ofSystem, place + 1);
    const key = [row.phase, row.case, place].join('\n');
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

function printLoad(rows: Row[]): void {
  const [first, second] = rows as [Row, Row | undefined];
  console.log(`\n${first.case}\n${first.load}`);
  console.log(
    ''.padEnd(nameWidth) + rows.map((row) => `${row.system} (${row.node})`.padEnd(columnWidth)).join(''),
  );
  for (const figure of first.figures) {
    const other = second?.figures.find(({ name }) => name === figure.name);
    const cells = [figure, other].flatMap((one) => (one ? [cell(one).padEnd(columnWidth)] : []));
    const ratio = other && other.median !== 0 ? `× ${(figure.median / other.median).toFixed(2)}` : '';
    console.log(`  ${figure.name}`.padEnd(nameWidth) + cells.join('') + ratio);
  }
  for (const { system, details } of rows)
    if (details) printDetails(rows.length > 1 ? ` (${system})` : '', details);
}

function cell({ unit, median, min, max, runs }: Summary): string {
  const value = `${round(median)}${unit === '/s' ? '' : ' '}${unit}`;
  return runs > 1 ? `${value} [${round(min)} to ${round(max)}]` : value;
}

const round = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);

function printDetails(whose: string, { waits, updates, statements }: Details): void {
  const single = waits.filter(({ event }) => event.includes(' '));
  if (single.length > 0)
    console.log(
      `  waits${whose}: ${single
        .slice(0, 6)
        .map(
          (wait) =>
            `${wait.event} ${round(wait.sharePercent)} % of moments, ${round(wait.meanSessions)} sessions`,
        )
        .join('; ')}`,
    );
  if (updates.length > 0)
    console.log(
      `  HOT updates${whose}: ${updates
        .slice(0, 6)
        .map((one) => `${one.table} ${round(one.hotPercent)} % of ${one.updates}`)
        .join('; ')}`,
    );
  if (statements === null) return;
  console.log(`  dearest statements${whose}: total ms, calls, mean ms, rows`);
  for (const { totalMs, calls, meanMs, rows, query } of statements)
    console.log(
      `  ${totalMs.toFixed(0).padStart(8)}${String(calls).padStart(8)}${meanMs.toFixed(2).padStart(8)}` +
        `${String(rows).padStart(8)}  ${query.slice(0, 100)}`,
    );
}
