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
      `Alerts sent: ${alerts.join(', ') || 'none'}. Red in Overview's first row: ${rows.join('; ')}.`,
      ...images,
    ].join('\n\n');
  });
  return `${[
    '# The dashboards in each scene',
    `These pictures are drawn by \`npm run dashboards -- --draw\` from the JSON in \`grafana/dashboards\`, **not by Grafana**. A real service on real engines goes through each scene. A real Prometheus scrapes it with the shipped rules, a real Alertmanager sends what it would send, and a browser draws the responses to the panels' queries. All durations of the rules and dashboards are divided by ${division.factor}, and the ages only as far as the service allows. What is sent here after a number of seconds is sent after about half as many minutes in production. The dashed line is the moment when the fault strikes. Colours, units, thresholds and positions are those of the JSON; fonts and details are not Grafana's.`,
    ...sections,
  ].join('\n\n')}\n`;
}
