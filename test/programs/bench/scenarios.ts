/**
 * `npm run bench:scenarios -- [name …]`: requirements under one particular load each, against the real service on its
 * own real engines. Exits 1 if a limit is exceeded.
 */
import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { burst } from './scenarios/burst.js';
import { deadOne } from './scenarios/dead-one.js';
import { endless } from './scenarios/endless.js';
import { startEngines } from './scenarios/engines.js';
import { halfHang } from './scenarios/half-hang.js';
import { heldScenario } from './scenarios/held.js';
import { log } from './scenarios/log.js';
import { reads } from './scenarios/reads.js';
import { monthsScenario } from './scenarios/months.js';
import { manyWebhooks } from './scenarios/many-webhooks.js';
import { oldSnapshot } from './scenarios/old-snapshot.js';
import { parked } from './scenarios/parked.js';
import { portal } from './scenarios/portal.js';
import { replay } from './scenarios/replay.js';
import { steady } from './scenarios/steady.js';
import { waiting } from './scenarios/waiting.js';
import { holds, type Figure, type Scenario } from './scenarios/scenario.js';

const scenarios = [
  ...[deadOne, halfHang, heldScenario, log, reads, replay, endless, burst, manyWebhooks, waiting],
  ...[steady, monthsScenario, oldSnapshot, parked, portal],
];

const program: Command = new Command('bench:scenarios')
  .description('Measures what must hold under one particular load each.')
  .argument('[name...]', `scenarios to run: ${scenarios.map(({ name }) => name).join(', ')} (default: all)`)
  .option('--queue <postgres|redis>', 'queue backend', 'redis')
  .option('--scale <factor>', 'counts and rates are multiplied by it, for slow machines', '1')
  .option('--json', 'print JSON only')
  .option('--out <file>', 'write the JSON to a file too')
  .parse();
const options = program.opts<{ queue: string; scale: string; json?: boolean; out?: string }>();
const names = program.args;
const unknown = names.filter((name) => !scenarios.some((scenario) => scenario.name === name));
if (unknown.length > 0) program.error(`no such scenario: ${unknown.join(', ')}`);

interface Result {
  name: string;
  promise: string;
  queue: string;
  seconds: number;
  holds: boolean;
  figures: Figure[];
}

let stopEngines = (): Promise<void> => Promise.resolve();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stopEngines().finally(() => process.exit(1)));

const say = (line: string) => void process.stderr.write(`${line}\n`);
const results: Result[] = [];
for (const scenario of scenarios) {
  if (names.length > 0 && !names.includes(scenario.name)) continue;
  const result = await measure(scenario);
  results.push(result);
  if (!options.json) printTable(result);
}
const report = { node: process.version, scale: Number(options.scale), results };
if (options.out) writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
if (options.json) console.log(JSON.stringify(report, null, 2));
process.exit(results.every((result) => result.holds) ? 0 : 1);

async function measure({ name, promise, withStatements, run }: Scenario): Promise<Result> {
  say(`${name}, queue on ${options.queue} …`);
  const startedAt = performance.now();
  const engines = await startEngines(options.queue, withStatements);
  if (!engines) program.error('no redis-server or valkey-server on PATH: take --queue postgres');
  stopEngines = engines.stop;
  try {
    const scaled = (count: number) => Math.max(1, Math.round(count * Number(options.scale)));
    const figures = await run({ ...engines, scaled, say });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    return { name, promise, queue: options.queue, seconds, holds: figures.every(holds), figures };
  } finally {
    await engines.stop();
  }
}

function printTable({ name, promise, queue, seconds, figures }: Result): void {
  const round = (value: number) => String(value >= 1_000 ? Math.round(value) : Math.round(value * 10) / 10);
  console.log(`\n${name}, queue on ${queue}, ${seconds} s\n${promise}`);
  for (const figure of figures) {
    const verdict =
      figure.atMost === undefined ? '' : `≤ ${round(figure.atMost)}  ${holds(figure) ? 'holds' : 'MISSED'}`;
    const value = `${round(figure.value)} ${figure.unit}`;
    console.log(
      `  ${figure.name.padEnd(44)}${value.padEnd(12)}${verdict.padEnd(16)}${figure.note ?? ''}`.trimEnd(),
    );
  }
}
