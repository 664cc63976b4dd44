import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests taken up in a turn of the event loop, and in one in which somebody has just connected. */
const mostPerTurn = 8;
const mostBesideNew = 1;

export interface Intake {
  take(request: IncomingMessage, response: ServerResponse): void;
  /** Somebody has connected: more may stand in line behind him. */
  connected(): void;
}

/**
 * Takes up a few requests in each turn of the event loop; connections take turns, so that nobody waits for all that
 * another one has sent at once. Node accepts one connection a turn (libuv, from 1.46): with hundreds of requests in one
 * turn, who has no connection yet would wait for as many long turns as others stand in line before him.
 */
export function createIntake(handle: RequestListener): Intake {
  const lines = new Map<Socket, [IncomingMessage, ServerResponse][]>(); // in the order of their turns
  let room = mostPerTurn;
  let scheduled = false;

  const takeUp = () => {
    for (const [socket, line] of lines) {
      if (room === 0) break;
      room -= 1;
      lines.delete(socket); // goes to the end
      const [request, response] = line.shift()!;
      if (line.length > 0) lines.set(socket, line);
      if (!response.destroyed) handle(request, response);
    }
    room = mostPerTurn;
    scheduled = false;
    if (lines.size > 0) schedule();
  };
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(takeUp);
  };

  return {
    take: (request, response) => {
      const line = lines.get(request.socket);
      if (line) line.push([request, response]);
      else lines.set(request.socket, [[request, response]]);
      schedule();
    },
    connected: () => void (room = mostBesideNew),
  };
}
