import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Requests taken up in a turn of the event loop, and in one in which somebody has just connected. */
const mostPerTurn = 8;
const mostBesideNew = 1;

export interface Intake {
  take(request: IncomingMessage, response: ServerResponse): void;
  /** Somebody has connected: more may stand in line behind him. */
  connected(): void;
}

/**
 * Takes up requests in the order they came, a few in each turn of the event loop. Node accepts one connection a turn
 * (libuv, from 1.46): with hundreds of requests in one turn, who has no connection yet would wait for as many long turns
 * as others stand in line before him.
 */
export function createIntake(handle: RequestListener): Intake {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  let room = mostPerTurn;
  let scheduled = false;

  const takeUp = () => {
    for (; room > 0 && waiting.length > 0; room -= 1) {
      const [request, response] = waiting.shift()!;
      if (!response.destroyed) handle(request, response);
    }
    room = mostPerTurn;
    scheduled = false;
    if (waiting.length > 0) schedule();
  };
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(takeUp);
  };

  return {
    take: (request, response) => {
      waiting.push([request, response]);
      schedule();
    },
    connected: () => void (room = mostBesideNew),
  };
}
