/**
 * `npm run chaos -- [fault …]`: the fault bench. Each fault strikes a deployment of its own under a steady load; what
 * was accepted is then compared with the receiver's own journal. Exits 1 where an invariant or a bound is broken.
 */
import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { holds } from '../bench/scenarios/scenario.js';
import type { Fault } from './fault.js';
import { faults } from './faults.js';
import { run, type Result, type RunOptions } from './run.js';

const positive = (text: string): number => {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
};

const program: Command = new Command('chaos')
  .description('Injects faults into the real service on its real engines and checks what must hold.')
  .argument('[fault...]', `of ${faults.map(({ name }) => name).join(', ')}; all but F17 without`)
  .option('--queue <postgres|redis>', 'queue backend', 'redis')
  .option('--seed <number>', 'decides which requests fail, and the order of F17', positive, 1)
  .option('--rate <events>', 'events a second', positive, 200)
  .option('--seconds <seconds>', 'of load at least', positive, 60)
  .option('--quick', 'a tenth of the waits and counts, 12 seconds, 50 events a second')
  .option('--json', 'print JSON only')
  .option('--out <file>', 'write the JSON to a file too')
  .addHelpText(
    'after',
    `\nFaults:\n${faults.map(({ name, promise }) => `  ${name.padEnd(5)}${promise}`).join('\n')}`,
  )
  .parse();

interface Options {
  queue: string;
  seed: number;
  rate: number;
  seconds: number;
  quick?: boolean;
  json?: boolean;
  out?: string;
}

const options = program.opts<Options>();
const unknown = program.args.filter((name) => !faults.some((fault) => fault.name === name));
if (unknown.length > 0) program.error(`no such fault: ${unknown.join(', ')}`);
if (!['postgres', 'redis'].includes(options.queue)) program.error('--queue is postgres or redis');

const quick = { eventsPerSecond: 50, seconds: 12, scale: 0.1 };
let stopWorld = (): Promise<void> => Promise.resolve();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stopWorld().finally(() => process.exit(1)));

const runOptions: RunOptions = {
  onStarted: (world) => (stopWorld = world.stop),
  queue: options.queue,
  seed: options.seed,
  ...(options.quick ? quick : { eventsPerSecond: options.rate, seconds: options.seconds, scale: 1 }),
};
const say = (line: string) => void process.stderr.write(`${line}\n`);
const isGood = ({ violations, figures }: Result) => violations.length === 0 && figures.every(holds);

const results: Result[] = [];
for (const fault of faults) {
  const asked = program.args.length > 0 ? program.args.includes(fault.name) : fault.name !== 'F17';
  if (!asked) continue;
  if (fault.needsRedis && options.queue !== 'redis') {
    say(`${fault.name} is done to Redis: left out`);
    continue;
  }
  say(`${fault.name}, queue on ${options.queue}, seed ${options.seed} …`);
  const result = await run(fault, runOptions).catch((error: unknown) => brokenOff(fault, error));
  if (!result) program.error('no redis-server or valkey-server on PATH: take --queue postgres');
  results.push(result);
  if (!options.json) printTable(result);
}
const report = { node: process.version, ...runOptions, results };
if (options.out) writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
if (options.json) console.log(JSON.stringify(report, null, 2));
process.exit(results.every(isGood) ? 0 : 1);

/** The run itself went wrong: that is no success either. */
function brokenOff({ name, promise }: Fault, error: unknown): Result {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const { queue, seed } = runOptions;
  const nothing = { seconds: 0, events: 0, notifications: 0, figures: [] };
  return { fault: name, promise, queue, seed, ...nothing, violations: [{ invariant: 'the run', what }] };
}

function printTable({ fault, promise, queue, seed, seconds, events, notifications, ...rest }: Result): void {
  console.log(`\n${fault}, queue on ${queue}, seed ${seed}, ${seconds} s\n${promise}`);
  console.log(`  ${events} events accepted, ${notifications} notifications received`);
  for (const figure of rest.figures) {
    const bound =
      figure.atMost === undefined ? '' : `≤ ${figure.atMost}  ${holds(figure) ? 'holds' : 'MISSED'}`;
    const value = `${Math.round(figure.value * 10) / 10} ${figure.unit}`;
    console.log(
      `  ${figure.name.padEnd(44)}${value.padEnd(14)}${bound.padEnd(18)}${figure.note ?? ''}`.trimEnd(),
    );
  }
  const shown = 10;
  if (rest.violations.length === 0) console.log('  every invariant holds');
  for (const { invariant, what } of rest.violations.slice(0, shown))
    console.log(`  VIOLATED ${invariant}: ${what}`);
  if (rest.violations.length > shown) console.log(`  … and ${rest.violations.length - shown} more`);
}
