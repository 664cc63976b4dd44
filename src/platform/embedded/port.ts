import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { problem } from './problem.js';

/**
 * The port used last if it is free, else another. Below the range from which systems give ports to outgoing
 * connections: one of ours could otherwise take the server's port while it is down.
 */
export async function choosePort(portFile: string): Promise<number> {
  const last = Number(await readFile(portFile, 'utf8').catch(() => ''));
  if (Number.isInteger(last) && last > 1024 && last < 65_536 && (await isFree(last))) return last;
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(20_000, 32_000);
    if (!(await isFree(port))) continue;
    await writeFile(portFile, `${port}\n`);
    return port;
  }
  throw problem(
    'no free port between 20000 and 32000 on 127.0.0.1',
    'end some of the programs listening there',
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
