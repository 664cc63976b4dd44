/**
 * `npm run bench`: runs the built service as child processes on its real engines and measures from the request to the
 * receipt, optionally with another build in the same run. It uses only the public interface, so any build works.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../../src/platform/errors.js';
import { measureCeiling, type Ceiling } from './ceiling.js';
import { loadEnvironment } from './environment.js';
import { parseOptions } from './options.js';
import { median } from './percentiles.js';
import { events } from './phases/events.js';
import { hang } from './phases/hang.js';
import { idle } from './phases/idle.js';
import { orders } from './phases/orders.js';
import type { Case, Phase } from './phases/phase.js';
import { rates } from './phases/rates.js';
import { start } from './phases/start.js';
import { printReport } from './print.js';
import { machine, summarize, type Failure, type Report, type Run } from './report.js';
import { stopServiceProcesses } from './service-process.js';
import type { Settings } from './settings.js';
import { startSystem, type System } from './system.js';

const phases: Phase[] = [orders, events, rates, idle, hang, start];
const options = parseOptions(phases);
if (options.environment) process.exit(await loadEnvironment(options.environment, options));
const startedAt = new Date();
mkdirSync(options.dataDir, { recursive: true });
const folder = mkdtempSync(join(options.dataDir, 'parcelhook-bench-'));
const systems: System[] = [];
const runs: Run[] = [];
const failures: Failure[] = [];
const ceilings: Ceiling[] = [];
const say = (line: string) =>
  process.stderr.write(`${((Date.now() - startedAt.getTime()) / 1_000).toFixed(0).padStart(5)} s  ${line}\n`);

let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (isEnding) process.exit(1);
    isEnding = true;
    void stopServiceProcesses()
      .then(clearAway)
      .finally(() => process.exit(1));
  });
}

try {
  for (const { name, dist, node, env } of options.builds) {
    const profile =
      options.profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profileDir}`];
    systems.push(
      await startSystem({
        name,
        build: { dist, node, nodeOptions: profile },
        env,
        folder: join(folder, name),
        postgresBinDir: options.postgresBinDir,
        withStatements: options.withStatements,
      }),
    );
  }
  const settings = { ...options.settings, hasRedis: systems.every(({ redis }) => redis !== null) };
  if (!settings.hasRedis) say('no redis-server or valkey-server on PATH: what needs it is left out');
  for (let n = 0; n < options.repeat; n += 1) {
    if (options.withCeiling) {
      ceilings.push(await measureCeiling(options.ceilingPosts));
      say(`ceiling: ${Math.round(ceilings.at(-1)!.perSecond)}/s`);
    }
    // The order alternates, because the first run affects the machine for the second.
    const inTurn = n % 2 === 0 ? systems : [...systems].reverse();
    for (const phase of options.phases)
      for (const one of phase.cases(settings))
        for (const system of inTurn) await measure(phase, one, system, settings);
  }
} catch (error) {
  if (!isEnding) say(`broken off: ${describeError(error)}`);
  process.exitCode = 1;
} finally {
  if (!isEnding) await clearAway();
}

if (!isEnding) {
  const report = makeReport();
  if (options.out !== undefined) writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
  if (options.json) console.log(JSON.stringify(report, null, 2));
  else printReport(report, new Map(phases.map(({ name, title }) => [name, title])));
  process.exit(process.exitCode ?? (failures.length > 0 ? 1 : 0));
}

async function measure(
  phase: Phase,
  { title, run }: Case,
  system: System,
  settings: Settings,
): Promise<void> {
  const label = [phase.name, title, ...(systems.length > 1 ? [system.name] : [])].join(', ');
  say(`${label} …`);
  try {
    const measured = await run(system, settings, (line) => say(`  ${line}`));
    runs.push({ phase: phase.name, case: title, system: system.name, measured });
  } catch (error) {
    if (isEnding) throw error;
    const message = describeError(error);
    failures.push({ phase: phase.name, case: title, system: system.name, message });
    say(`  FAILED: ${message}`);
  }
}

async function clearAway(): Promise<void> {
  await Promise.allSettled(systems.map((system) => system.stop()));
  rmSync(folder, { recursive: true, force: true });
}

function makeReport(): Report {
  const ceiling =
    ceilings.length === 0
      ? null
      : {
          perSecond: median(ceilings.map(({ perSecond }) => perSecond)),
          cpuUs: median(ceilings.map(({ cpuUs }) => cpuUs)),
        };
  const nodeOf = new Map(systems.map(({ name, nodeVersion }) => [name, nodeVersion]));
  return {
    startedAt: startedAt.toISOString(),
    machine: machine(),
    systems: systems.map(({ name, build, nodeVersion, postgres, redis }) => ({
      name,
      dist: build.dist,
      node: nodeVersion,
      postgres: postgres.version,
      redis: redis?.version ?? null,
    })),
    ceiling,
    rows: summarize(runs, nodeOf, ceiling?.perSecond ?? null),
    failures,
  };
}
