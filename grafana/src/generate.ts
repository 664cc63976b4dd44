/** `npm run dashboards`: writes the JSON that Grafana loads. */
import { writeFileSync } from 'node:fs';
import { dashboardFiles } from './dashboards.js';

for (const { name, text } of dashboardFiles) {
  writeFileSync(new URL(`../dashboards/${name}`, import.meta.url), text);
  console.log(`grafana/dashboards/${name}`);
}
