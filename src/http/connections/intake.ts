import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests taken up in one turn of the event loop. */
const mostPerTurn = 8;
/** In a turn with a new connection one request is taken up, and one more for so many connections that wait. */
const connectionsPerRequest = 64;
/**
 * Requests of one connection that wait. Beyond it the first is taken up at once: Node stops reading from a connection
 * whose answers pile up, not from one whose requests do.
 */
const mostOfConnection = 250;

export interface Intake {
  take(request: IncomingMessage, response: ServerResponse): void;
  /** A client has connected: others may be queued behind this one. */
  connected(): void;
}

interface Waiting {
  request: IncomingMessage;
  response: ServerResponse;
}

const arrivals = new WeakMap<IncomingMessage, number>();
/** When the request arrived, in the time of performance.now(). It may have waited for its turn since. */
export const arrivedAt = (request: IncomingMessage): number => arrivals.get(request) ?? performance.now();

/** The account that a request names, whether or not it is that account's; one that names none goes by its connection. */
const accountOf = ({ url, socket }: IncomingMessage): unknown =>
  /[?&]key=([^&#]+)/.exec(url ?? '')?.[1] ?? socket;

/**
 * Takes up a few requests in each turn of the event loop. Accounts take turns, and so do the connections of each, so
 * that nobody waits for all that another one has sent at once, on one connection or on a hundred; a connection counts
 * for the account of its first request. Node accepts one connection a turn (libuv, from 1.46): with hundreds of
 * requests in one turn, a client that is not yet connected would wait one long turn for each client queued ahead of it.
 */
export function createIntake(handle: RequestListener): Intake {
  const lines = new Map<Socket, Waiting[]>();
  const accounts = new Map<unknown, Set<Socket>>(); // both in the order of their turns
  let room = mostPerTurn;
  let scheduled = false;

  const queueUp = (socket: Socket, line: Waiting[]) => {
    lines.set(socket, line);
    const account = accountOf(line[0]!.request);
    const sockets = accounts.get(account);
    if (sockets) sockets.add(socket);
    else accounts.set(account, new Set([socket]));
  };
  /** Passes over a request whose client has gone. Returns how many were taken up. */
  const takeFirst = (line: Waiting[]): number => {
    const { request, response } = line.shift()!;
    if (response.destroyed || !request.socket.writable) return 0;
    handle(request, response);
    return 1;
  };
  const takeUp = () => {
    let left = room;
    room = mostPerTurn;
    scheduled = false;
    for (const [account, sockets] of accounts) {
      if (left === 0) break;
      const [socket] = sockets as unknown as [Socket];
      const line = lines.get(socket)!;
      sockets.delete(socket);
      lines.delete(socket);
      accounts.delete(account);
      if (sockets.size > 0) accounts.set(account, sockets); // at the end
      left -= takeFirst(line);
      if (line.length > 0) queueUp(socket, line);
    }
    if (lines.size > 0) schedule();
  };
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(takeUp);
  };

  return {
    take: (request, response) => {
      arrivals.set(request, performance.now());
      const waiting = { request, response };
      const line = lines.get(request.socket);
      if (line) line.push(waiting);
      else queueUp(request.socket, [waiting]);
      if (line && line.length > mostOfConnection) takeFirst(line);
      schedule();
    },
    connected: () => void (room = Math.min(mostPerTurn, 1 + Math.floor(lines.size / connectionsPerRequest))),
  };
}
