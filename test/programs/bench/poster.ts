/** The ceiling, in its own process: `poster.ts URL COUNT CONNECTIONS`. Prints its figures as JSON. */
import { Agent, request } from 'node:http';

async function postBare(url: string, count: number, connections: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const payload = Buffer.from(
    JSON.stringify({ state: 'CREATED', tracking_id: 'PH', padding: 'x'.repeat(150) }),
  );
  const headers = { 'content-type': 'application/json', 'content-length': payload.length };
  let left = count;
  const post = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', resolve);
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  const one = async () => {
    while (left-- > 0) await post();
  };
  await Promise.all(Array.from({ length: connections }, one));
  agent.destroy();
}

const [url = '', count = '20000', connections = '100'] = process.argv.slice(2);
await postBare(url, 2_000, Number(connections));
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await postBare(url, Number(count), Number(connections));
const seconds = (performance.now() - startedAt) / 1_000;
const { user, system } = process.cpuUsage(cpuBefore);
console.log(JSON.stringify({ perSecond: Number(count) / seconds, cpuUs: (user + system) / Number(count) }));
