import { Command } from 'commander';
import { division } from './division.js';
import { scenes } from './scenes/scenes.js';
import type { Scene } from './scenes/scene.js';

export interface Options {
  draw?: boolean;
  scene?: string[];
  list?: boolean;
  json?: boolean;
  out: string;
}

export const createProgram = (): Command =>
  new Command('dashboards')
    .description('Writes the JSON of the dashboards; with --draw, draws them as they look in each scene.')
    .option('--draw', 'run the service through the scenes, check what is told and what is red, and draw it')
    .option('--scene <name...>', 'only these scenes')
    .option('--list', 'list the scenes and what is expected of each')
    .option('--json', 'print the results as JSON')
    .option('--out <folder>', 'where the drawings go', 'docs/dashboards')
    .addHelpText(
      'after',
      `
--draw needs redis-server, prometheus, prometheus-alertmanager and chromium on the PATH, and takes about two minutes
a scene. All durations of the rules and the boards are divided by ${division.factor}. It ends with 1 where anything is not as the
table in test/programs/draw/scenes/scenes.ts says, or a panel never moves in a run of all scenes.`,
    );

/** An unknown name ends the program. */
export function scenesOf({ scene }: Options, program: Command): Scene[] {
  const unknown = (scene ?? []).filter((name) => !scenes.some((one) => one.name === name));
  if (unknown.length > 0) program.error(`no such scene: ${unknown.join(', ')}; --list names them`);
  return scene ? scenes.filter(({ name }) => scene.includes(name)) : scenes;
}

export const lineOf = ({ name, what, environments }: Scene): string => {
  const expected = Object.entries(environments).map(([environment, { told, red }]) => {
    const alerts = Object.entries(told).map(([alert, seconds]) => `${alert} within ${seconds} s`);
    return `    ${environment}: ${alerts.join(', ') || 'nothing is told'}; red: ${red}`;
  });
  return [`${name}`, `    ${what}`, ...expected].join('\n');
};
