import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Closing } from './engines.js';
import type { Order } from './proxy.js';

export interface Proxy {
  /** The engine's URL with the proxy's port. */
  url: string;
  send(order: Order): Promise<void>;
}

export async function proxyTo(url: string, closing: Closing): Promise<Proxy> {
  const program = fileURLToPath(new URL('./proxy.ts', import.meta.url));
  const child = fork(program, [new URL(url).port], { execArgv: ['--import', 'tsx'] });
  closing.push(() => child.kill('SIGKILL'));
  const [port] = (await once(child, 'message')) as [number];
  const proxied = new URL(url);
  proxied.port = String(port);
  return {
    url: proxied.href,
    send: async (order) => {
      child.send(order);
      await once(child, 'message');
    },
  };
}
