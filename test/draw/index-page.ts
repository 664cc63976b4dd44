import { division } from './division.js';
import type { Result } from './run-scene.js';
import { scenes } from './scenes/scenes.js';

export function indexOf(results: Result[]): string {
  const sections = results.map(({ scene: name, told, firstRows, drawings }) => {
    const { title, what } = scenes.find((scene) => scene.name === name)!;
    const alerts = Object.entries(told).map(
      ([key, at]) => `\`${key.split(' ').join('`: `')}\` after ${Math.round(at)} s`,
    );
    const rows = Object.entries(firstRows).map(([environment, { red }]) => `${environment}: ${red}`);
    const images = [...drawings.keys()].map((file) => `![${title}: ${file.replace('.png', '')}](${file})`);
    return [
      `## ${title}`,
      what,
      `Told: ${alerts.join(', ') || 'nothing'}. Red in Overview's first row: ${rows.join('; ')}.`,
      ...images,
    ].join('\n\n');
  });
  return `${[
    '# The dashboards in each scene',
    `Drawn by \`npm run dashboards -- --draw\` from the JSON in \`grafana/dashboards\`, **not by Grafana**: a real service on real engines goes through each scene, a real Prometheus scrapes it with the shipped rules, a real Alertmanager says what is told, and a browser draws what the queries answer. All durations of the rules and the boards are divided by ${division.factor}, the ages only down to what the service itself needs; what is told here after seconds is told as many minutes later in production. The dashed line is where it strikes. Colours, units, thresholds and places are those of the JSON; fonts and details are not Grafana's.`,
    ...sections,
  ].join('\n\n')}\n`;
}
