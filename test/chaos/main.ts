/**
 * `npm run chaos -- [fault …]`: the fault bench. Each fault strikes a deployment of its own under a steady load; what
 * was accepted is then compared with the receiver's own journal. Exits 1 where an invariant or a bound is broken, 2
 * where all that was run is well but something could not be run.
 */
import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { NotRunnable } from './world/disk.js';
import type { Fault } from './faults/fault.js';
import { faults } from './faults/faults.js';
import { printTable } from './print.js';
import { isGood, isNotRun, resultsIn, type RunKey } from './results.js';
import { run, type Result } from './run.js';

const positive = (text: string): number => {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
};
const range = (text: string): number[] => {
  const [first = NaN, last = first] = text.split('-').map(Number);
  if (!(first > 0 && last >= first)) throw new InvalidArgumentError('It must be like 1-10.');
  return Array.from({ length: last - first + 1 }, (_, n) => first + n);
};

const program: Command = new Command('chaos')
  .description('Injects faults into the real service on its real engines and checks what must hold.')
  .argument('[fault...]', `of ${faults.map(({ name }) => name).join(', ')}; all but F17 without`)
  .option('--queue <postgres|redis|in-turn>', 'queue backend; in turn: by the seed', 'redis')
  .option('--seed <number>', 'decides which requests fail, and the order of F17', positive, 1)
  .option('--seeds <from-to>', 'one after the other', range)
  .option('--rate <events>', 'events a second (default: 200, quick 50)', positive)
  .option('--seconds <seconds>', 'of load at least (default: 60, of F17 600)', positive)
  .option('--quick', 'a tenth of the waits and counts, 12 seconds, 50 events a second')
  .option('--results <file>', 'a line of JSON for each run that is over; what is in it is not run again')
  .option('--json', 'print JSON only')
  .option('--out <file>', 'write the JSON to a file too')
  .addHelpText(
    'after',
    `\nF14, F15 and F19 name all that begin so.\n\nFaults:\n${faults.map(({ name, promise }) => `  ${name.padEnd(26)}${promise}`).join('\n')}`,
  )
  .parse();

interface Options {
  queue: string;
  seed: number;
  seeds?: number[];
  rate?: number;
  seconds?: number;
  quick?: boolean;
  results?: string;
  json?: boolean;
  out?: string;
}

const options = program.opts<Options>();
const isNamed = (fault: Fault, name: string) => fault.name === name || fault.name.startsWith(`${name}-`);
const unknown = program.args.filter((name) => !faults.some((fault) => isNamed(fault, name)));
if (unknown.length > 0) program.error(`no such fault: ${unknown.join(', ')}`);
if (!['postgres', 'redis', 'in-turn'].includes(options.queue))
  program.error('--queue is postgres or redis, or in-turn');

let stopWorld = (): Promise<void> => Promise.resolve();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stopWorld().finally(() => process.exit(1)));

const say = (line: string) => void process.stderr.write(`${line}\n`);
const asked = faults.filter((fault) =>
  program.args.length > 0 ? program.args.some((name) => isNamed(fault, name)) : fault.name !== 'F17',
);
const earlier = resultsIn(options.results);
const results: Result[] = [];
for (const seed of options.seeds ?? [options.seed])
  for (const fault of asked) {
    const key = keyOf(fault, seed);
    if (fault.needsRedis && key.queue !== 'redis') {
      say(`${fault.name} is done to Redis: left out`);
      continue;
    }
    const title = `${fault.name}, queue on ${key.queue}, seed ${seed}`;
    const before = earlier.find(key);
    say(before ? `${title}: was run before` : `${title} …`);
    const result = before ?? (await runOnce(fault, key));
    if (!before && !isNotRun(result)) earlier.add(key, result);
    results.push(result);
    if (!options.json) printTable(result);
  }

const { queue, seed } = options;
const report = { node: process.version, queue, seed, ...sizeOf(asked[0]!), results };
if (options.out) writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
if (options.json) console.log(JSON.stringify(report, null, 2));
const notRun = results.filter(isNotRun);
for (const result of notRun) say(`NOT RUN: ${result.fault}: ${result.notRun}`);
if (!results.every(isGood)) process.exit(1);
process.exit(notRun.length > 0 ? 2 : 0);

function sizeOf(fault: Fault) {
  const eventsPerSecond = options.rate ?? (options.quick ? 50 : 200);
  if (options.quick) return { eventsPerSecond, seconds: options.seconds ?? 12, scale: 0.1 };
  const seconds = options.seconds ?? (fault.name === 'F17' ? 600 : 60);
  return { eventsPerSecond, seconds, scale: 1 };
}

function keyOf(fault: Fault, seed: number): RunKey {
  const inTurn = seed % 2 === 1 ? 'redis' : 'postgres';
  const queue = options.queue === 'in-turn' ? inTurn : options.queue;
  return { fault: fault.name, queue, seed, ...sizeOf(fault) };
}

async function runOnce(fault: Fault, key: RunKey): Promise<Result> {
  const onStarted = (world: { stop(): Promise<void> }) => (stopWorld = world.stop);
  const result = await run(fault, { ...key, onStarted }).catch((error: unknown) =>
    brokenOff(fault, key, error),
  );
  return result ?? program.error('no redis-server or valkey-server on PATH: take --queue postgres');
}

/** The run itself went wrong, which is no success either, or this machine does not allow it. */
function brokenOff({ name, promise }: Fault, { queue, seed }: RunKey, error: unknown): Result {
  const nothing = { seconds: 0, events: 0, notifications: 0, figures: [], violations: [] };
  const result = { fault: name, promise, queue, seed, ...nothing };
  if (error instanceof NotRunnable) return { ...result, notRun: error.message };
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { ...result, violations: [{ invariant: 'the run', what }] };
}
