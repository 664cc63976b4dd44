import { createServer, request as send, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The fate of one request on its way: `LATE` is forwarded after later ones, `UNHEARD` loses its response. */
export type Fate = 'PASS' | 'DOUBLE' | 'DROP' | 'LATE' | 'UNHEARD';
export const fates: Fate[] = ['PASS', 'DOUBLE', 'DROP', 'LATE', 'UNHEARD'];

export interface Proxy {
  url: string;
  /** The fates of the next requests; those after them pass. */
  fates: Fate[];
  /** Forwards what is still late, and waits for everything under way. */
  flush(): Promise<void>;
  close(): void;
}

/** A late request waits for this many others. */
const lateBy = 2;

/** Stands before a receiver, and does to notifications what networks and crashes do. */
export async function startProxy(target: () => string): Promise<Proxy> {
  const late: (() => Promise<number>)[] = [];
  const underWay = new Set<Promise<unknown>>();
  const track = <Result>(result: Promise<Result>) => {
    underWay.add(result);
    return result.finally(() => underWay.delete(result));
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const forward = () => track(post(target(), request.headers, Buffer.concat(chunks)));
      const due = late.length > lateBy ? late.shift() : undefined;
      void track(statusAfter(proxy.fates.shift() ?? 'PASS', forward)).then((status) => {
        response.writeHead(status).end();
        return due?.();
      });
    });
  });

  async function statusAfter(fate: Fate, forward: () => Promise<number>): Promise<number> {
    if (fate === 'PASS') return forward();
    if (fate === 'DOUBLE') return Math.max(...(await Promise.all([forward(), forward()])));
    if (fate === 'LATE') late.push(forward);
    if (fate === 'UNHEARD') await forward();
    return fate === 'UNHEARD' ? 502 : 204;
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: Proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    fates: [],
    async flush() {
      await Promise.all(late.splice(0).map((forward) => forward()));
      while (underWay.size > 0) await Promise.all(underWay);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;
}

/** Returns the status; 502 without a response. */
function post(url: string, headers: IncomingHttpHeaders, body: Buffer): Promise<number> {
  return new Promise((resolve) => {
    send(url, { method: 'POST', headers, agent: false }, (response) => {
      response.resume().on('close', () => resolve(response.statusCode!));
    })
      .on('error', () => resolve(502))
      .end(body);
  });
}
