/**
 * `npm run drill -- <name>`: starts the configuration files that we ship on this machine, breaks something under load,
 * and says what was accepted, lost and received twice. Exits 0 if all is as promised, 1 if not, 2 after wrong usage, 69
 * if a program is missing.
 */
import { accessSync, chmodSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { holds } from '../bench/scenarios/scenario.js';
import type { Closing } from '../chaos/world/engines.js';
import { cells } from './cells.js';
import type { Drill, Scene } from './drill.js';
import { patroni } from './patroni.js';
import { pgbackrest } from './pgbackrest.js';
import { tls } from './tls.js';

const drills: Record<string, Drill> = { cells, patroni, pgbackrest, tls };

const exitCode = { broken: 1, usage: 2, programMissing: 69 };

const names = Object.keys(drills);
const listed = Object.entries(drills)
  .map(([name, { promise }]) => `  ${name.padEnd(12)}${promise}`)
  .join('\n');
const rateArgument = (text: string) => {
  const rate = Number(text);
  if (!(rate > 0 && rate <= 200)) throw new InvalidArgumentError('It must be a number from 1 to 200.');
  return rate;
};

const program = new Command('drill')
  .description('Starts the configuration files of docs on this machine and breaks something under load.')
  .argument('[drill]', `one of ${names.join(', ')}; without it, they are listed`)
  .option('--rate <events>', 'orders and states a second', rateArgument, 20)
  .option('--textfile <folder>', 'pgbackrest: also write backup.prom there, as for node_exporter')
  .option('--json', 'print JSON only')
  .addHelpText(
    'after',
    `\nDrills:\n${listed}\n\nExit codes: 0 as promised, 1 not, 2 wrong usage, 69 a program is missing.`,
  )
  .exitOverride(({ exitCode: code }) => process.exit(code === 0 ? 0 : exitCode.usage))
  .parse();
const { rate, textfile, json } = program.opts<{ rate: number; textfile?: string; json?: true }>();
const [name] = program.args;
const say = (line: string) => void process.stderr.write(`${line}\n`);

if (name === undefined) {
  console.log(json ? JSON.stringify(names) : listed);
  process.exit(0);
}
const drill = drills[name] ?? program.error(`There is no drill ${name}: it is one of ${names.join(', ')}.`);
const missing = drill.programs.filter(({ file }) => !isProgram(file));
for (const { file, debian } of missing) say(`${file} is missing: apt install ${debian}`);
if (missing.length > 0) process.exit(exitCode.programMissing);

const folder = mkdtempSync(join(tmpdir(), 'drill-'));
chmodSync(folder, 0o755);
const closing: Closing = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })];
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void close().finally(() => process.exit(1)));

let scenes: Scene[] = [];
try {
  scenes = await drill.run({ folder, eventsPerSecond: rate, textfile, closing, say });
} catch (error) {
  say(`${name} broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
}
await close();
if (json) console.log(JSON.stringify({ drill: name, eventsPerSecond: rate, scenes }, null, 2));
else for (const scene of scenes) print(scene);
process.exit(scenes.length > 0 && scenes.every(isAsPromised) ? 0 : exitCode.broken);

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function close(): Promise<void> {
  for (const end of closing.splice(0).reverse())
    await Promise.resolve()
      .then(end)
      .catch((error: unknown) => say(String(error)));
}

function isAsPromised({ lost, violations, figures }: Scene): boolean {
  return lost === 0 && violations.length === 0 && figures.every(holds);
}

function print(scene: Scene): void {
  const { accepted, lost, twice, seconds, figures, violations } = scene;
  const done = `${accepted} accepted, ${lost} lost, ${twice} twice, ${seconds.toFixed(1)} s`;
  console.log(`${isAsPromised(scene) ? 'ok  ' : 'FAIL'} ${scene.name}: ${done}`);
  for (const figure of figures) {
    const bound = figure.atMost === undefined ? '' : ` (at most ${figure.atMost})`;
    const value = `${Math.round(figure.value * 10) / 10} ${figure.unit}`.trim();
    console.log(`       ${figure.name}: ${value}${bound}${figure.note ? `, ${figure.note}` : ''}`);
  }
  for (const violation of violations.slice(0, 10)) console.log(`       ${violation}`);
}
