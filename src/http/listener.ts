import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { invalidRequest } from '../platform/errors.js';
import { failureBody } from './envelope.js';

export interface Listener {
  port: number;
  /** Another app answers from now on. */
  use(app: RequestListener): void;
  /** Takes no new connection; resolves when the requests under way are answered. */
  close(): Promise<void>;
}

/** Who has not sent the whole of his request by then is cut off at the end. */
const closeGraceMs = 4_000;

/**
 * An HTTP server whose every wait has a bound; slow senders of headers or bodies are cut off. `longestAnswerMs` is
 * what the slowest request may take to be answered.
 */
export function listen(first: RequestListener, port: number, longestAnswerMs: number): Promise<Listener> {
  let app = first;
  const connections = new Map<Socket, IncomingMessage | null>();
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: 2_000,
      keepAliveTimeout: 65_000,
    },
    (request, response) => {
      const { socket } = request;
      connections.set(socket, request);
      response.once('close', () => {
        if (connections.get(socket) === request) connections.set(socket, null);
      });
      app(request, response);
    },
  );
  server.on('connection', (socket: Socket) => {
    connections.set(socket, null);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('clientError', answerUnreadable);
  const cutOffSilent = () => {
    for (const [socket, request] of connections) if (!request?.complete) socket.destroy();
  };
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => {
      server.off('error', reject);
      const address = server.address();
      resolve({
        port: typeof address === 'object' && address ? address.port : port,
        use: (next) => void (app = next),
        close: () => close(server, cutOffSilent, closeGraceMs + longestAnswerMs),
      });
    });
  });
}

/** A request may be on its way on a connection that looks idle: closing at once would break it off. */
const onTheWayMs = 100;

/** Takes no new connection; requests under way finish, idle connections close, and what says nothing is cut off. */
async function close(server: Server, cutOffSilent: () => void, longestMs: number): Promise<void> {
  await sleep(onTheWayMs);
  return new Promise<void>((resolve) => {
    const timers = [
      setInterval(() => server.closeIdleConnections(), 50),
      setTimeout(cutOffSilent, closeGraceMs),
      setTimeout(() => server.closeAllConnections(), longestMs),
    ];
    server.close(() => {
      for (const timer of timers) clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

const unreadable: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** What the HTTP parser itself refuses is answered in the API's form as well; then the connection closes. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const requestId = randomUUID();
  const failure = invalidRequest([{ path: 'request', message: 'could not be read' }]);
  const body = JSON.stringify(failureBody(failure, requestId));
  socket.end(
    [
      `HTTP/1.1 ${unreadable[error.code ?? ''] ?? '400 Bad Request'}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
