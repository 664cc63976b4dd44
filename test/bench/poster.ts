/** The ceiling, in its own process: `poster.ts URL COUNT CONNECTIONS`. Prints its figures as JSON. */
import { postBare } from './load.js';

const [url = '', count = '20000', connections = '100'] = process.argv.slice(2);
await postBare(url, 2_000, Number(connections)); // warm
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await postBare(url, Number(count), Number(connections));
const seconds = (performance.now() - startedAt) / 1_000;
const { user, system } = process.cpuUsage(cpuBefore);
console.log(JSON.stringify({ perSecond: Number(count) / seconds, cpuUs: (user + system) / Number(count) }));
