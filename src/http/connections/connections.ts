import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopback, networkOf } from './network.js';

export interface ConnectionLimits {
  /** Connections at once. */
  most: number;
  /** Of them, from one address block. */
  mostOfBlock: number;
  /** Addresses of proxies, which bring the connections of many: their blocks may have them all. */
  isProxy(address: string): boolean;
  onDropped(why: 'refused' | 'displaced'): void;
}

export interface Connections {
  /** Takes a connection, if need be in the place of another; destroys it where there is no room. */
  add(socket: Socket): void;
  /** A request's head has come. Its answer closes when it is over, or with its connection. */
  begin(request: IncomingMessage, response: ServerResponse): void;
  /** It has had requests, and all of them are answered. */
  isDone(socket: Socket): boolean;
  /** Destroys those that do not wait for an answer to a whole request. */
  cutOffSilent(): void;
  count(): number;
}

interface Block {
  name: string;
  size: number;
  /** Who has been idle for longest comes first. */
  idle: Set<Socket>;
  /** Whose request had a head but no end when it began; likewise. */
  unfinished: Set<Socket>;
}

interface Connection {
  block: Block;
  underWay: Set<ServerResponse>;
  newest: IncomingMessage | null;
  newestAt: number;
}

/** The rest of a request that takes longer may cost its connection the place. */
const patienceMs = 1_000;

/**
 * Keeps the places for connections. Where none is left, the one that has been idle for longest goes, from the same
 * block or from that which has most, or else one whose request has no end: who sends half a request and waits is pushed
 * out by those who come with a whole one. A connection whose whole request is being answered is never pushed out.
 */
export function createConnections(limits: ConnectionLimits): Connections {
  const blocks = new Map<string, Block>();
  const open = new Map<Socket, Connection>();

  const remove = (socket: Socket) => {
    const connection = open.get(socket);
    if (!connection) return;
    const { block, underWay } = connection;
    open.delete(socket);
    block.idle.delete(socket);
    block.unfinished.delete(socket);
    block.size -= 1;
    if (block.size === 0) blocks.delete(block.name);
    // Node closes only the answer whose turn it was, not those that wait behind it.
    for (const response of underWay) response.destroy().emit('close');
  };
  /** The first is the oldest: where it is young, all are. */
  const firstUnfinished = ({ unfinished }: Block): Socket | undefined => {
    for (const socket of unfinished) {
      const { newest, newestAt } = open.get(socket)!;
      if (newest && !newest.complete) return performance.now() - newestAt > patienceMs ? socket : undefined;
      unfinished.delete(socket);
    }
    return undefined;
  };
  const pushOut = (block: Block): boolean => {
    const [longestIdle] = block.idle;
    const victim = longestIdle ?? firstUnfinished(block);
    if (!victim) return false;
    limits.onDropped('displaced');
    remove(victim);
    victim.destroy();
    return true;
  };
  const largest = () => [...blocks.values()].reduce((a, b) => (b.size > a.size ? b : a));
  const hasRoom = (block: Block | undefined, share: number): boolean =>
    (block === undefined || block.size < share || pushOut(block)) &&
    (open.size < limits.most || pushOut(largest()));

  return {
    add: (socket) => {
      const address = socket.remoteAddress;
      const name = networkOf(address);
      const mayHaveAll = isLoopback(address) || (address !== undefined && limits.isProxy(address));
      if (!hasRoom(blocks.get(name), mayHaveAll ? limits.most : limits.mostOfBlock)) {
        limits.onDropped('refused');
        return void socket.destroy();
      }
      const block = blocks.get(name) ?? { name, size: 0, idle: new Set(), unfinished: new Set() };
      blocks.set(name, block);
      block.size += 1;
      block.idle.add(socket);
      open.set(socket, { block, underWay: new Set(), newest: null, newestAt: 0 });
      socket.once('close', () => remove(socket));
    },
    begin: (request, response) => {
      const { socket } = request;
      const connection = open.get(socket);
      if (!connection) return;
      const { block, underWay } = connection;
      underWay.add(response);
      connection.newest = request;
      connection.newestAt = performance.now();
      block.idle.delete(socket);
      block.unfinished.delete(socket);
      if (!request.complete) block.unfinished.add(socket); // the last of them
      response.once('close', () => {
        underWay.delete(response);
        if (underWay.size === 0 && open.has(socket)) block.idle.add(socket);
      });
    },
    isDone: (socket) => {
      const connection = open.get(socket);
      return connection !== undefined && connection.newest !== null && connection.underWay.size === 0;
    },
    cutOffSilent: () => {
      for (const [socket, { newest, underWay }] of open)
        if (underWay.size === 0 || !newest?.complete) socket.destroy();
    },
    count: () => open.size,
  };
}
