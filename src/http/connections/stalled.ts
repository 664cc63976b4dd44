import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Node looks so many times in the time that is granted, and forgets what it saw when there was progress. */
const looks = 3;

/**
 * Destroys connections whose client reads nothing of its answer for `stalledMs`, or up to a third longer. Node's own
 * timer sees progress within a large write, which nothing else tells. With it set, what else ends by a timer of Node's
 * is ours to destroy: connections that are done and idle.
 */
export function destroyStalled(server: Server, stalledMs: number, isDone: (socket: Socket) => boolean): void {
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
