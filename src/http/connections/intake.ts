import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { createFairQueue } from '../../platform/limits/fair-queue.js';

/** Requests taken up in one turn of the event loop. */
const maxPerTurn = 8;
/** In a turn with a new connection one request is taken up, and one more for so many connections that wait. */
const connectionsPerRequest = 64;
const kinds = { known: 0, unknown: 1 };

export interface Intake {
  take(request: IncomingMessage, response: ServerResponse): void;
  /** A client has connected: others may be queued behind this one. */
  connected(): void;
  /** The client takes its answers again: requests that wait on its connection have their turns again. */
  goOn(socket: Socket): void;
}

interface Waiting {
  request: IncomingMessage;
  response: ServerResponse;
}

const arrivals = new WeakMap<IncomingMessage, number>();
/** When the request arrived, in the time of performance.now(). It may have waited for its turn since. */
export const arrivedAt = (request: IncomingMessage): number => arrivals.get(request) ?? performance.now();

/** Whose credentials were accepted lately, by the header that bore them. */
const accounts = new LRUCache<string, string>({ max: 5_000 });
/** The credentials of this request were accepted: what bears them from now on takes its turns with this account. */
export function recognise({ headers }: IncomingMessage, account: string): void {
  if (headers.authorization !== undefined) accounts.set(headers.authorization, account);
}

/**
 * Takes up a few requests in each turn of the event loop, so that nobody waits for all that another one has sent at
 * once, on one connection or on a hundred. Known accounts take turns, and so do the connections of each; connections
 * without a known account take turns of their own, and the two kinds alternate. Node accepts one connection a turn
 * (libuv, from 1.46): with hundreds of requests in one turn, a client that is not yet connected would wait one long
 * turn for each client queued ahead of it. A client that does not take its answers has no turn until `goOn`.
 */
export function createIntake(
  handle: RequestListener,
  takesAnswers: (socket: Socket) => boolean = () => true,
): Intake {
  const lines = new Map<Socket, Waiting[]>();
  const aside = new Map<Socket, Waiting[]>();
  /** Sockets, each under its account, or under itself if it has none. */
  const queue = createFairQueue<Socket, Socket | string>({ kinds: 2, lead: 1 });
  let room = maxPerTurn;
  let scheduled = false;

  /** A connection counts for the account of the first request that waits there. */
  const queueUp = (socket: Socket, line: Waiting[]) => {
    lines.set(socket, line);
    const account = accounts.get(line[0]!.request.headers.authorization ?? '');
    if (account === undefined) queue.add(socket, socket, kinds.unknown);
    else queue.add(account, socket, kinds.known);
  };
  /** Passes over a request whose client has gone. Returns how many were taken up. */
  const takeOne = ({ request, response }: Waiting): number => {
    if (response.destroyed || !request.socket.writable) return 0;
    handle(request, response);
    return 1;
  };
  const takeUp = () => {
    let left = room;
    room = maxPerTurn;
    scheduled = false;
    while (left > 0) {
      const socket = queue.take();
      if (!socket) break;
      const line = lines.get(socket)!;
      lines.delete(socket);
      if (socket.writable && !takesAnswers(socket)) {
        aside.set(socket, line);
        continue;
      }
      const first = line.shift()!;
      if (line.length > 0 && socket.writable) queueUp(socket, line);
      left -= takeOne(first);
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
      const line = lines.get(request.socket) ?? aside.get(request.socket);
      if (line) line.push({ request, response });
      else queueUp(request.socket, [{ request, response }]);
      schedule();
    },
    connected: () => void (room = Math.min(maxPerTurn, 1 + Math.floor(lines.size / connectionsPerRequest))),
    goOn: (socket) => {
      const line = aside.get(socket);
      if (!line) return;
      aside.delete(socket);
      queueUp(socket, line);
      schedule();
    },
  };
}
