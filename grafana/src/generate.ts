/** `npm run dashboards`: writes the JSON that Grafana loads; with options, what `--help` says. */
import { writeFileSync } from 'node:fs';
import { dashboardFiles } from './dashboards.js';

const argv = process.argv.slice(2);
if (argv.length > 0) {
  const { drawScenes } = await import('../../test/programs/draw/main.js');
  process.exit(await drawScenes(argv));
}
for (const { name, text } of dashboardFiles) {
  writeFileSync(new URL(`../dashboards/${name}`, import.meta.url), text);
  console.log(`grafana/dashboards/${name}`);
}
