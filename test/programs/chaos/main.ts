/**
 * `npm run chaos -- [fault …]`: the fault bench. Each fault strikes its own deployment under a steady load; accepted
 * events are then compared with the receiver's journal. Exits 1 if an invariant or a limit is violated, 2 if
 * everything that was run succeeded but something could not be run.
 */
import { writeFileSync } from 'node:fs';
import { createProgram, readArguments } from './arguments.js';
import { NotRunnable } from './world/disk.js';
import type { Fault } from './faults/fault.js';
import { printTable } from './print.js';
import { isGood, isNotRun, resultsIn, type RunKey } from './results.js';
import { run, type Result } from './run.js';

const program = createProgram();
const { options, asked } = readArguments(process.argv.slice(2), program);

let stopWorld = (): Promise<void> => Promise.resolve();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stopWorld().finally(() => process.exit(1)));

const say = (line: string) => void process.stderr.write(`${line}\n`);
const earlier = resultsIn(options.results);
const results: Result[] = [];
for (const seed of options.seeds ?? [options.seed])
  for (const fault of asked) {
    const key = keyOf(fault, seed);
    if (fault.needsRedis && key.queue !== 'redis') {
      say(`${fault.name} needs Redis: skipped`);
      continue;
    }
    const title = `${fault.name}, queue on ${key.queue}, seed ${seed}`;
    const before = earlier.find(key);
    say(before ? `${title}: already run` : `${title} …`);
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
  return result ?? program.error('no redis-server or valkey-server on PATH: use --queue postgres');
}

/** The run itself failed, which is no success, or this machine does not allow it. */
function brokenOff({ name, promise }: Fault, { queue, seed }: RunKey, error: unknown): Result {
  const nothing = { seconds: 0, events: 0, notifications: 0, figures: [], violations: [] };
  const result = { fault: name, promise, queue, seed, ...nothing };
  if (error instanceof NotRunnable) return { ...result, notRun: error.message };
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { ...result, violations: [{ invariant: 'the run', what }] };
}
