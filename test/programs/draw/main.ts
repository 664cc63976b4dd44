/**
 * `npm run dashboards -- --draw`: the boards as they look while something is wrong, drawn from their JSON on what a real
 * service, a real Prometheus and a real Alertmanager say. Exits 1 where anything is not as the table of scenes says.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createProgram, lineOf, scenesOf, type Options } from './arguments.js';
import { readBoards } from './boards/board.js';
import { undrawableOf } from './boards/drawable.js';
import { openBrowser } from './browser.js';
import { indexOf } from './index-page.js';
import { createMovement, unexplained } from './movement.js';
import { inRepository } from './paths.js';
import { runScene, type Result } from './run-scene.js';
import { scenes } from './scenes/scenes.js';

const say = (line: string) => void process.stderr.write(`${line}\n`);

export async function drawScenes(argv: string[]): Promise<number> {
  const program = createProgram();
  program.parse(argv, { from: 'user' });
  const options = program.opts<Options>();
  if (!options.draw && !options.list) program.error('--draw is missing');
  const asked = scenesOf(options, program);
  if (options.list) {
    console.log(asked.map(lineOf).join('\n'));
    return 0;
  }
  const built = spawnSync(process.execPath, [inRepository('build.config.js'), '--no-check'], {
    stdio: 'inherit',
  });
  if (built.status !== 0) return 1;

  const boards = readBoards(inRepository('grafana/dashboards'));
  const undrawable = boards.flatMap(undrawableOf);
  for (const what of undrawable) say(`WRONG: ${what}`);
  if (undrawable.length > 0) return 1;
  const browser = await openBrowser();
  let stop = (): Promise<void> => Promise.resolve();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().finally(() => process.exit(1)));
  const movement = createMovement();
  const results: Result[] = [];
  try {
    for (const [n, scene] of asked.entries()) {
      say(`${n + 1} of ${asked.length}: ${scene.name} …`);
      const result = await runScene(scene, { boards, browser, say, onStarted: (end) => (stop = end) }).catch(
        (error: Error): Result => brokenOff(scene.name, error),
      );
      results.push(result);
      for (const { board, answered } of result.answered) movement.note(board.name, answered);
      for (const problem of result.problems) say(`${scene.name}: WRONG: ${problem}`);
      say(
        `${scene.name}: ${result.problems.length === 0 ? 'as expected' : 'NOT as expected'}, ${result.seconds.toFixed(0)} s`,
      );
    }
  } finally {
    await browser.close();
  }
  const isAll = asked.length === scenes.length;
  write(resolve(inRepository('.'), options.out), results, isAll);
  const still = isAll ? unexplained(movement.still()) : [];
  for (const panel of still) say(`WRONG: it never moved in any scene: ${panel}`);
  if (options.json)
    console.log(
      JSON.stringify(
        {
          still: movement.still(),
          unexplained: still,
          scenes: results.map(({ answered: _answered, drawings, ...rest }) => ({
            ...rest,
            drawings: [...drawings.keys()],
          })),
        },
        null,
        2,
      ),
    );
  return results.every(({ problems }) => problems.length === 0) && still.length === 0 ? 0 : 1;
}

const brokenOff = (scene: string, error: Error): Result => ({
  scene,
  told: {},
  firstRows: {},
  problems: [`the scene broke off: ${error.stack ?? error.message}`],
  answered: [],
  drawings: new Map(),
  seconds: 0,
});

/** A whole run takes away what an earlier one drew. */
function write(folder: string, results: Result[], isAll: boolean): void {
  mkdirSync(folder, { recursive: true });
  if (isAll)
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.png')))
      rmSync(join(folder, file));
  for (const { drawings } of results)
    for (const [file, png] of drawings) writeFileSync(join(folder, file), png);
  if (isAll) writeFileSync(join(folder, 'README.md'), indexOf(results));
  const files = readdirSync(folder).filter((file) => file.endsWith('.png'));
  const bytes = files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  say(`${folder}: ${Math.round(bytes / 1_024)} KiB of drawings`);
}
