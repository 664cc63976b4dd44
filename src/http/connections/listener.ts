import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createConnections, usualBounds, type Bounds, type ConnectionLimits } from './connections.js';
import { openDoors, type Doors } from './doors.js';
import { createIntake } from './intake.js';
import { createMessages, type App } from './messages.js';
import { answerUnreadable } from './unreadable.js';

export interface Listener {
  port: number;
  /** Another app answers from now on. */
  use(app: App): void;
  /** How many connections are open. */
  connections(): number;
  /** Takes no new connection; resolves when the requests under way are answered. */
  close(): Promise<void>;
}

export interface ListenerOptions {
  port: number;
  /** Undefined: all interfaces. */
  host: string | undefined;
  limits: ConnectionLimits;
  /** What the slowest request may take to be answered. */
  longestAnswerMs: number;
  /** Others than the usual, in tests. */
  times?: Partial<typeof usualTimes>;
  bounds?: Partial<Bounds>;
}

const usualTimes = {
  /** Bounds on receiving a request's head, and the whole of it. */
  headersMs: 10_000,
  requestMs: 30_000,
  /** How long an idle connection is kept: longer than load balancers keep theirs (60 s). */
  idleMs: 65_000,
  /** An answer of which its client reads nothing for so long is given up. */
  stalledMs: 30_000,
  /** Who is refused may take so long to read it and to end; then the connection goes. */
  lingerMs: 1_000,
};

/** Who has not sent the whole of his request by then is cut off at the end. */
const closeGraceMs = 4_000;

/** An HTTP server whose every wait has a bound: for heads, bodies, readers, and for the end of what it refused. */
export async function listen(first: App, options: ListenerOptions): Promise<Listener> {
  const times = { ...usualTimes, ...options.times };
  const connections = createConnections(options.limits, (socket) => intake.goOn(socket), {
    ...usualBounds,
    ...options.bounds,
  });
  let app = first;
  const messages = createMessages(first);
  const intake = createIntake((request, response) => app(request, response), connections.takesAnswers);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    connections.begin(request, response);
    response.once('close', () => {
      if (!request.complete) notWaitedFor(request, times.lingerMs);
    });
    intake.take(request, response);
  };
  const server = createServer(
    {
      IncomingMessage: messages.IncomingMessage,
      ServerResponse: messages.ServerResponse,
      headersTimeout: times.headersMs,
      requestTimeout: times.requestMs,
      connectionsCheckingInterval: Math.min(2_000, times.headersMs),
      keepAliveTimeout: times.idleMs,
      requireHostHeader: false, // the app requires it: Node would refuse it without a body
    },
    answer,
  );
  server.on('checkExpectation', answer); // the app refuses an unknown Expect, too
  server.on('connection', (socket) => {
    connections.add(socket);
    if (!socket.destroyed) intake.connected();
  });
  server.on('clientError', answerUnreadable(times.lingerMs));
  destroyStalled(server, times.stalledMs, connections.isDone);
  const doors = await openDoors(server, { port: options.port, host: options.host });
  return {
    port: doors.port,
    use: (next) => {
      messages.use(next);
      app = next;
    },
    connections: connections.count,
    close: () => close(server, doors, connections.cutOffSilent, closeGraceMs + options.longestAnswerMs),
  };
}

/** The rest of a request that is answered already; it is read, so that the answer is not lost by a reset. */
function notWaitedFor(request: IncomingMessage, lingerMs: number): void {
  const { socket }: { socket: Socket } = request;
  if (socket.destroyed) return;
  request.resume();
  const timer = setTimeout(() => request.complete || socket.destroy(), lingerMs);
  request.once('close', () => clearTimeout(timer)); // not the socket's: it may bring any number of requests
}

/** Node looks so many times in the time that is granted, and forgets what it saw when there was progress. */
const looks = 3;

/**
 * Destroys connections whose client reads nothing of its answer for `stalledMs`, or up to a third longer. Node's own
 * timer sees progress within a large write, which nothing else tells. With it set, what else ends by a timer of Node's
 * is ours to destroy: connections that are done and idle.
 */
function destroyStalled(server: Server, stalledMs: number, isDone: (socket: Socket) => boolean): void {
  const lookMs = Math.ceil(stalledMs / looks);
  const seen = new WeakMap<Socket, { times: number; at: number }>();
  server.setTimeout(lookMs, (socket: Socket) => {
    if (socket.writableLength === 0) return void (isDone(socket) && socket.destroy());
    const now = performance.now();
    const before = seen.get(socket);
    const inARow = before !== undefined && now - before.at < 1.5 * lookMs ? before.times + 1 : 1;
    if (inARow >= looks) return void socket.destroy();
    seen.set(socket, { times: inARow, at: now });
    socket.setTimeout(lookMs);
  });
}

/** A request may be on its way on a connection that looks idle: closing at once would break it off. */
const onTheWayMs = 100;

/** Takes no new connection; requests under way finish, idle connections close, and what says nothing is cut off. */
async function close(
  server: Server,
  doors: Doors,
  cutOffSilent: () => void,
  longestMs: number,
): Promise<void> {
  await sleep(onTheWayMs);
  const timers = [
    setInterval(() => server.closeIdleConnections(), 50),
    setTimeout(cutOffSilent, closeGraceMs),
    setTimeout(() => server.closeAllConnections(), longestMs),
  ];
  const closed = doors.close();
  server.closeIdleConnections();
  await closed;
  for (const timer of timers) clearTimeout(timer);
}
