import { setImmediate as afterArrivals, setTimeout as sleep } from 'node:timers/promises';
import { createServer, IncomingMessage, ServerResponse, type RequestListener, type Server } from 'node:http';
import {
  createServer as createNetServer,
  type AddressInfo,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import type { Express } from 'express';
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { invalidRequest } from '../../platform/errors.js';
import { failureBody } from '../route.js';
import {
  createConnections,
  defaultBounds,
  highWaterMark,
  type Bounds,
  type ConnectionLimits,
} from './connections.js';
import { createIntake } from './intake.js';
import { admitChunk, chunksOf, startOfBody, stopParsing } from './small-chunks.js';

export interface Listener {
  port: number;
  use(app: App): void;
  connections(): number;
  close(): Promise<void>;
}

export interface ListenerOptions {
  port: number;
  host: string | undefined;
  limits: ConnectionLimits;
  maxResponseMs: number;
  times?: Partial<typeof defaultTimes>;
  bounds?: Partial<Bounds>;
}

const defaultTimes = {
  /** Bounds on receiving a request's head, and the whole of it. */
  headersMs: 10_000,
  requestMs: 30_000,
  /** How long an idle connection stays open (KEEP_ALIVE_TIMEOUT). */
  idleMs: 65_000,
  /** A response of which the client reads nothing for so long is abandoned. */
  stalledMs: 30_000,
  lingerMs: 1_000,
};

/** After this time of closing, connections without a complete request are destroyed. */
const closeGraceMs = 4_000;

/** Starts an HTTP server that bounds every wait: for heads, bodies, readers, and the end of refused requests. */
export async function listen(first: App, options: ListenerOptions): Promise<Listener> {
  const times = { ...defaultTimes, ...options.times };
  const connections = createConnections(options.limits, (socket) => intake.resume(socket), {
    ...defaultBounds,
    ...options.bounds,
  });
  let app = first;
  const messages = createMessages(first);
  const intake = createIntake(
    (request, response) => app(request, response),
    connections.readsResponses,
    (request) => app.onGivenUp?.(request),
  );
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    connections.begin(request, response);
    response.once('close', () => {
      if (!isFinished(request)) drainRest(request, times.lingerMs);
    });
    intake.add(request, response);
  };
  const server = createServer(
    {
      IncomingMessage: messages.IncomingMessage,
      ServerResponse: messages.ServerResponse,
      headersTimeout: times.headersMs,
      requestTimeout: times.requestMs,
      connectionsCheckingInterval: Math.min(2_000, times.headersMs),
      keepAliveTimeout: times.idleMs,
      highWaterMark,
      requireHostHeader: false, // the app requires it: Node's own 400 has no body
    },
    onRequest,
  );
  server.on('checkExpectation', onRequest); // the app refuses an unknown Expect
  let connectedAt = -Infinity;
  server.on('connection', (socket) => {
    connectedAt = performance.now();
    connections.add(socket);
    if (!socket.destroyed) intake.connected();
  });
  server.on('clientError', rejectUnreadable(times.lingerMs));
  destroyStalled(server, times.stalledMs, connections.isDone);
  const shared = await listenShared(server, { port: options.port, host: options.host });
  return {
    port: shared.port,
    use: (next) => {
      messages.use(next);
      app = next;
    },
    connections: connections.count,
    close: async () => {
      await untilQuiet(() => connectedAt);
      await close(server, shared, connections.destroyInactive, closeGraceMs + options.maxResponseMs);
    },
  };
}

/** A request whose connection can take another one. */
const isFinished = (request: IncomingMessage): boolean => request.complete && !chunksOf(request)?.isCut;

/** Bounds of the rest of a body after its response; Node parses one in chunks without `push`. */
const maxRestBytes = { chunked: 64 * 1024, other: 512 * 1024 };

/** Reads the rest of a request after its response, so that a reset does not lose the response. */
function drainRest(request: IncomingMessage, lingerMs: number): void {
  const { socket }: { socket: Socket } = request;
  if (socket.destroyed) return;
  request.resume();
  const timer = setTimeout(() => isFinished(request) || socket.destroy(), lingerMs);
  let leftBytes = maxRestBytes[request.headers['transfer-encoding'] === undefined ? 'other' : 'chunked'];
  const count = (bytes: Buffer) => {
    leftBytes -= bytes.length;
    if (leftBytes < 0) stopParsing(socket);
  };
  socket.on('data', count);
  request.once('close', () => {
    if (isFinished(request)) clearTimeout(timer); // not the socket's: it may carry any number of requests
    socket.off('data', count);
  });
}

/** Checks within `stalledMs`; progress resets them. */
const stallChecks = 3;

/**
 * Destroys connections whose client reads nothing of its response for `stalledMs`, or up to a third longer. Only Node's
 * own socket timer sees progress within a large write. Setting it disables Node's idle timeout, so connections that are
 * done and idle are destroyed here, too.
 */
function destroyStalled(server: Server, stalledMs: number, isDone: (socket: Socket) => boolean): void {
  const checkMs = Math.ceil(stalledMs / stallChecks);
  const seen = new WeakMap<Socket, { times: number; at: number }>();
  server.setTimeout(checkMs, (socket: Socket) => {
    if (socket.writableLength === 0) return void (isDone(socket) && socket.destroy());
    const now = performance.now();
    const before = seen.get(socket);
    const inARow = before !== undefined && now - before.at < 1.5 * checkMs ? before.times + 1 : 1;
    if (inARow >= stallChecks) return void socket.destroy();
    seen.set(socket, { times: inARow, at: now });
    socket.setTimeout(checkMs);
  });
}

/** A request may be on its way on an idle connection: closing at once would break it off. */
const inTransitMs = 100;
const longestInTransitMs = 1_000;

/**
 * The kernel resets the connections that wait to be accepted when nobody listens any more. A tick accepts one, so on a
 * busy machine many may wait: resolves when none has come for `inTransitMs`, or after `longestInTransitMs`, right after
 * what has arrived was read.
 */
async function untilQuiet(connectedAt: () => number): Promise<void> {
  const endsAt = performance.now() + longestInTransitMs;
  do {
    await sleep(inTransitMs);
    await afterArrivals();
  } while (performance.now() - connectedAt() < inTransitMs && performance.now() < endsAt);
}

async function close(
  server: Server,
  shared: SharedListener,
  destroyInactive: () => void,
  longestMs: number,
): Promise<void> {
  // A tick reads what has arrived after its timers; until then the connection seems idle.
  const closeIdle = () => void setImmediate(() => server.closeIdleConnections());
  const timers = [
    setInterval(closeIdle, 50),
    setTimeout(destroyInactive, closeGraceMs),
    setTimeout(() => server.closeAllConnections(), longestMs),
  ];
  const closed = shared.close();
  server.closeIdleConnections();
  await closed;
  for (const timer of timers) clearTimeout(timer);
}

/** An Express app, or any other request listener. */
export type App = RequestListener &
  Partial<Pick<Express, 'request' | 'response'>> & {
    /** Called instead for a request whose client gave up before its turn came. */
    onGivenUp?(request: IncomingMessage): void;
  };

/**
 * The classes of the server's requests and responses. Express replaces the prototype of each message, which gives each a
 * hidden class of its own: 2 kB, and slow property access. Messages of these classes have the prototypes of the current
 * app from the start, so that Express changes nothing. `use` sets the app.
 */
function createMessages(first: App) {
  let { Request, Response } = classesOf(first);
  return {
    use: (app: App) => void ({ Request, Response } = classesOf(app)),
    IncomingMessage: function (socket: Socket) {
      return new Request(socket);
    } as unknown as typeof IncomingMessage,
    ServerResponse: function (...given: ConstructorParameters<typeof ServerResponse>) {
      return new Response(...given);
    } as unknown as typeof ServerResponse,
  };
}

function classesOf(app: App) {
  class Request extends IncomingMessage {
    readonly chunks = startOfBody();
    override push(chunk: Buffer | null): boolean {
      return chunk === null || admitChunk(this.chunks, chunk.length, this.socket) ? super.push(chunk) : true;
    }
  }
  class Response extends ServerResponse {}
  if (app.request) app.request = Object.setPrototypeOf(Request.prototype, app.request) as Express['request'];
  if (app.response)
    app.response = Object.setPrototypeOf(Response.prototype, app.response) as Express['response'];
  return { Request, Response };
}

const statusLines: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Responds in the API's form to what the HTTP parser refuses, and ends the connection: the client has `lingerMs` to
 * read the response.
 */
function rejectUnreadable(lingerMs: number): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const responded = new WeakSet<Duplex>();
  return (error, socket) => {
    if (responded.has(socket)) return; // what follows is as unreadable
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    responded.add(socket);
    const requestId = randomUUID();
    const failure = invalidRequest([{ path: 'request', message: 'could not be read' }]);
    const body = JSON.stringify(failureBody(failure, requestId));
    socket.end(
      [
        `HTTP/1.1 ${statusLines[error.code ?? ''] ?? '400 Bad Request'}`,
        'Content-Type: application/json; charset=utf-8',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Cache-Control: private, no-store',
        `X-Request-Id: ${requestId}`,
        'Connection: close',
        '',
        body,
      ].join('\r\n'),
    );
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  };
}

interface Address {
  port: number;
  host: string | undefined;
}

type SharedListener = ReturnType<typeof sharedListener>;

const sockets = 8;
/** From Node 24, sockets can share a port; Linux spreads connections over them. */
export const canSharePort = process.platform === 'linux' && Number(process.versions.node.split('.')[0]) >= 24;

/**
 * Makes the server listen, on several sockets of one port if the platform allows: each accepts one connection per
 * event-loop tick (libuv, from 1.46), so that a client connecting while ticks are long waits for fewer of them. Rejects
 * if the port is taken, as `listen` does.
 */
async function listenShared(server: Server, address: Address): Promise<SharedListener> {
  if (!canSharePort) return sharedListener([await listenOn(server, address)]);
  if (address.port !== 0) await expectFree(address);
  const first = await listenOn(server, { ...address, reusePort: true }).catch(() =>
    listenOn(server, address),
  );
  const { address: host, port } = first.address() as AddressInfo;
  const others = await Promise.allSettled(
    Array.from({ length: sockets - 1 }, () =>
      listenOn(
        createNetServer({ allowHalfOpen: true, noDelay: true, highWaterMark }, (socket) =>
          server.emit('connection', socket),
        ),
        { host, port, reusePort: true },
      ),
    ),
  );
  return sharedListener([
    first,
    ...others.flatMap((other) => (other.status === 'fulfilled' ? other.value : [])),
  ]);
}

const sharedListener = (servers: NetServer[]) => ({
  port: (servers[0]!.address() as AddressInfo).port,
  close: async () => {
    await Promise.all(servers.map(closeServer));
  },
});

/** Without this check, another process with SO_REUSEPORT would share the port and get some of the connections. */
async function expectFree(address: Address): Promise<void> {
  await closeServer(await listenOn(createNetServer(), address));
}

const listenOn = (server: NetServer, options: Address & { reusePort?: boolean }): Promise<NetServer> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve(server);
    });
  });

const closeServer = (server: NetServer): Promise<void> =>
  new Promise((resolve) => server.close(() => resolve()));
