import { division } from './division.js';
import type { Result } from './run-scene.js';
import { scenes } from './scenes/scenes.js';

export function indexOf(results: Result[]): string {
  const sections = results.map(({ scene: name, told, firstRows, drawings }) => {
    const { title, what } = scenes.find((scene) => scene.name === name)!;
    const alerts = Object.entries(told).map(
      ([key, at]) => `\`${key.split(' ').at(-1)}\` (${Math.round(at)} s)`,
    );
    const rows = Object.entries(firstRows).map(([environment, { red }]) =>
      Object.keys(firstRows).length > 1 ? `${red} (${environment})` : red,
    );
    const images = [...drawings.keys()].map((file) => `![${file.replace('.png', '')}](${file})`);
    const seen = `Alerts: ${alerts.join(', ') || 'none'}. Red: ${rows.join(', ')}.`;
    return [`## ${title}`, `${what} ${seen}`, ...images].join('\n\n');
  });
  return `${[
    '# The dashboards in each scene',
    `This page shows people on call how the dashboards look when something is wrong. It says which alerts are sent, how long after the fault (the dashed line), and what is red in Overview's first row: _ours_ to mend, or _theirs_, the receivers'. \`npm run dashboards -- --draw\` makes these pictures, **not Grafana**: a real service, Prometheus and Alertmanager go through each scene, and a browser draws the panels' JSON. The durations of the rules are divided by ${division.factor}, so a second here is about half a minute in production.`,
    ...sections,
  ].join('\n\n')}\n`;
}
