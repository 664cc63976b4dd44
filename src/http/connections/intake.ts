import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { createFairQueue } from '../../platform/limits/fair-queue.js';

/** Requests started in one event-loop tick. */
const maxPerTick = 8;
/** A tick with a new connection starts one request, and one more for each so many waiting connections. */
const connectionsPerRequest = 64;
const kinds = { known: 0, unknown: 1 };

interface Waiting {
  request: IncomingMessage;
  response: ServerResponse;
}

const arrivals = new WeakMap<IncomingMessage, number>();
/**
 * When the request arrived, by performance.now(), or when its client, which it waited for, read earlier responses
 * again. It may have waited in the intake since.
 */
export const arrivedAt = (request: IncomingMessage): number => arrivals.get(request) ?? performance.now();

/** The longest token, with what stands before it. Longer credentials are no token. */
const maxCredentialsLength = 4_200;
/** Accounts whose credentials were accepted lately, by Authorization header or, without one, by Cookie header. */
const accounts = new LRUCache<string, string>({ max: 5_000 });
const credentialsIn = ({ headers }: IncomingMessage): string => headers.authorization ?? headers.cookie ?? '';
/** Queues further requests with these accepted credentials under this account. */
export function recognise(request: IncomingMessage, account: string): void {
  const credentials = credentialsIn(request);
  if (credentials !== '' && credentials.length <= maxCredentialsLength) accounts.set(credentials, account);
}

/**
 * Starts a few requests in each event-loop tick, so that no client waits for everything another one has sent at once,
 * on one connection or on a hundred. Known accounts are served in rotation, and so are the connections of each;
 * connections without a known account are served in a rotation of their own, and the two kinds alternate. Node accepts
 * one connection per tick (libuv, from 1.46): with hundreds of requests in one tick, a client that is not yet connected
 * would wait one long tick for each client queued ahead of it. A client that does not read its responses is passed
 * over until `resume`.
 */
export function createIntake(
  handle: RequestListener,
  readsResponses: (socket: Socket) => boolean = () => true,
  onGivenUp: (request: IncomingMessage) => void = () => undefined,
) {
  const lines = new Map<Socket, Waiting[]>();
  const aside = new Map<Socket, Waiting[]>();
  /** Sockets by account, or by themselves without one. */
  const queue = createFairQueue<Socket, Socket | string>({ kinds: 2, lead: 1 });
  let room = maxPerTick;
  let scheduled = false;

  /** A connection counts for the account of its first waiting request. */
  const queueUp = (socket: Socket, line: Waiting[]) => {
    lines.set(socket, line);
    const account = accounts.get(credentialsIn(line[0]!.request));
    if (account === undefined) queue.add(socket, socket, kinds.unknown);
    else queue.add(account, socket, kinds.known);
  };
  const startOne = ({ request, response }: Waiting): number => {
    if (response.destroyed || !request.socket.writable) {
      onGivenUp(request);
      return 0;
    }
    handle(request, response);
    return 1;
  };
  const startSome = () => {
    let left = room;
    room = maxPerTick;
    scheduled = false;
    while (left > 0) {
      const socket = queue.take();
      if (!socket) break;
      const line = lines.get(socket)!;
      lines.delete(socket);
      if (socket.writable && !readsResponses(socket)) {
        aside.set(socket, line);
        continue;
      }
      const first = line.shift()!;
      left -= startOne(first);
      if (!socket.writable) for (const { request } of line) onGivenUp(request);
      else if (line.length > 0) queueUp(socket, line);
    }
    if (lines.size > 0) schedule();
  };
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(startSome);
  };

  return {
    add: (request: IncomingMessage, response: ServerResponse) => {
      arrivals.set(request, performance.now());
      const line = lines.get(request.socket) ?? aside.get(request.socket);
      if (line) line.push({ request, response });
      else queueUp(request.socket, [{ request, response }]);
      schedule();
    },
    /** Reports a new connection: more may be queued in the kernel behind it. */
    connected: () => void (room = Math.min(maxPerTick, 1 + Math.floor(lines.size / connectionsPerRequest))),
    resume: (socket: Socket) => {
      const line = aside.get(socket);
      if (!line) return;
      aside.delete(socket);
      for (const { request } of line) arrivals.set(request, performance.now());
      queueUp(socket, line);
      schedule();
    },
  };
}
