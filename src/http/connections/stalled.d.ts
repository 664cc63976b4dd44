import type { Server } from 'node:http';
import type { Socket } from 'node:net';
/**
 * Destroys connections whose client reads nothing of its answer for `stalledMs`, or up to a third longer. Node's own
 * timer sees progress within a large write, which nothing else tells. With it set, what else ends by a timer of Node's
 * is ours to destroy: connections that are done and idle.
 */
export declare function destroyStalled(server: Server, stalledMs: number, isDone: (socket: Socket) => boolean): void;
