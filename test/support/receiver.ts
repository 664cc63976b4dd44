import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Received {
  at: number;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  notification: Record<string, unknown>;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  delayMs?: number;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Returns each response; default 200. May write to the response itself and return nothing. */
  reply: (request: Received, response: ServerResponse) => Reply | void;
  /** Resolves with the first `count` notifications that satisfy `matches`, or rejects after `timeoutMs`. */
  waitFor(count: number, matches?: (request: Received) => boolean, timeoutMs?: number): Promise<Received[]>;
  close(): Promise<void>;
}

/** Starts one on a free port, with responses set by the test. */
export async function startReceiver(reply: Receiver['reply'] = () => ({})): Promise<Receiver> {
  const arrivals = new EventEmitter().setMaxListeners(0);
  const receiver: Receiver = { url: '', received: [], reply, waitFor, close };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const received: Received = {
        at: Date.now(),
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
        notification: JSON.parse(body || '{}') as Record<string, unknown>,
      };
      receiver.received.push(received);
      arrivals.emit('arrival');
      void respond(receiver.reply(received, response), response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as { port: number }).port}/hook`;
  return receiver;

  async function waitFor(
    count: number,
    matches: (request: Received) => boolean = () => true,
    timeoutMs = 60_000,
  ) {
    const tooLate = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const found = receiver.received.filter(matches);
      if (found.length >= count) return found.slice(0, count);
      await once(arrivals, 'arrival', { signal: tooLate }).catch(() => {
        throw new Error(`${found.length} of ${count} notifications came within ${timeoutMs} ms`);
      });
    }
  }

  function close(): Promise<void> {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  }
}

async function respond(reply: Reply | void, response: ServerResponse): Promise<void> {
  if (!reply) return;
  if (reply.delayMs) await sleep(reply.delayMs);
  response.writeHead(reply.status ?? 200, reply.headers ?? {}).end(reply.body ?? 'ok');
}
