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

/**
 * Takes up a few requests in each turn of the event loop; connections take turns, so that nobody waits for all that
 * another one has sent at once. Node accepts one connection a turn (libuv, from 1.46): with hundreds of requests in one
 * turn, a client that is not yet connected would wait one long turn for each client queued ahead of it.
 */
export function createIntake(handle: RequestListener): Intake {
  const lines = new Map<Socket, Waiting[]>(); // in the order of their turns
  let room = mostPerTurn;
  let scheduled = false;

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
    for (const [socket, line] of lines) {
      if (left === 0) break;
      lines.delete(socket);
      if (line.length > 1) lines.set(socket, line); // at the end
      left -= takeFirst(line);
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
      const line = lines.get(request.socket) ?? [];
      line.push({ request, response });
      lines.set(request.socket, line);
      if (line.length > mostOfConnection) takeFirst(line);
      schedule();
    },
    connected: () => void (room = Math.min(mostPerTurn, 1 + Math.floor(lines.size / connectionsPerRequest))),
  };
}
