import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopback, networkOf } from './network.js';
import { readInPieces } from './pieces.js';

export interface ConnectionLimits {
  /** Connections at once. */
  most: number;
  /** Of them, from one address block. */
  maxOfBlock: number;
  /** Addresses of proxies, which bring the connections of many clients: their blocks may have them all. */
  isProxy(address: string): boolean;
  onDropped(why: 'refused' | 'displaced' | 'overfull'): void;
}

/** How much memory requests and answers may keep. */
export const usualBounds = {
  /** Requests of one connection under way; the connection is not read while it has this many. */
  maxRequestsOfConnection: 8,
  /** While this many requests are under way in total, or their heads take this much, a connection has one at a time. */
  maxRequests: 64,
  fullAtHeadBytes: 16 * 1024 * 1024,
  /** Beyond this, a connection that brings another head is cut off. */
  maxHeadBytes: 64 * 1024 * 1024,
  /** Bytes read and not yet parsed; beyond this, a connection that holds more is cut off. */
  maxHeldBytes: 64 * 1024 * 1024,
  /** Bytes answered and not yet taken; beyond this, the connections that leave most are cut off. */
  maxUnsentBytes: 64 * 1024 * 1024,
};
export type Bounds = typeof usualBounds;

export interface Connections {
  /** Takes a connection, if need be in the place of another; destroys it where there is no room. */
  add(socket: Socket): void;
  /** A request's head has come. Its answer closes when it is over, or with its connection. */
  begin(request: IncomingMessage, response: ServerResponse): void;
  /** It has had requests, and all of them are answered. */
  isDone(socket: Socket): boolean;
  /** Destroys those that do not wait for an answer to a whole request. */
  cutOffSilent(): void;
  /** Whether the client reads its responses, so that another may be made. */
  takesAnswers(socket: Socket): boolean;
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
  socket: Socket;
  block: Block;
  underWay: Set<ServerResponse>;
  newest: IncomingMessage | null;
  newestAt: number;
  heldBytes: number;
  /** The size of the heads of its requests under way. */
  headBytes: number;
  /** Reads it again, if there is room. */
  goOn(): void;
}

/** The bytes that an answer waiting behind another keeps, and those that the first answer has not sent yet. */
const unsentBytes = ({ socket, underWay }: Connection): number => {
  let bytes = underWay.size === 0 ? socket.writableLength : 0;
  for (const response of underWay) bytes += response.writableLength;
  return bytes;
};

const isTaken = (connection: Connection): boolean =>
  !connection.socket.writableNeedDrain && unsentBytes(connection) < connection.socket.writableHighWaterMark;

/** A header's two strings and their places, besides the characters. */
const headerBytes = 32;

const headBytesOf = ({ url = '', rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce((bytes, text) => bytes + text.length + headerBytes, url.length + headerBytes);

/** How often the unsent bytes are checked. */
const lookEveryMs = 100;

/** The rest of a request that takes longer may cost its connection the place. */
const patienceMs = 1_000;

/**
 * Bounds the number of connections. When there are too many, the one that has been idle for longest is closed, from the
 * same block or from the block with the most. If none is idle, one whose request is incomplete is closed: a client that
 * sends half a request and waits is pushed out by clients that send a whole one. A connection whose whole request is
 * being answered is never pushed out. A connection that has many requests under way, or does not take its answers, is
 * not read. `onRoom` is called when one of its answers is over or taken.
 */
export function createConnections(
  limits: ConnectionLimits,
  onRoom: (socket: Socket) => void = () => undefined,
  bounds: Bounds = usualBounds,
): Connections {
  const blocks = new Map<string, Block>();
  const open = new Map<Socket, Connection>();
  const all = { requests: 0, headBytes: 0, heldBytes: 0 };
  let lookedAt = 0;

  const remove = (socket: Socket) => {
    const connection = open.get(socket);
    if (!connection) return;
    const { block, underWay } = connection;
    hold(connection, 0);
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
  const drop = (socket: Socket, why: 'displaced' | 'overfull') => {
    limits.onDropped(why);
    remove(socket);
    socket.destroy();
  };
  const pushOut = (block: Block): boolean => {
    const [longestIdle] = block.idle;
    const victim = longestIdle ?? firstUnfinished(block);
    if (victim) drop(victim, 'displaced');
    return victim !== undefined;
  };
  const largest = () => [...blocks.values()].reduce((a, b) => (b.size > a.size ? b : a));
  const hasRoom = (block: Block | undefined, share: number): boolean =>
    (block === undefined || block.size < share || pushOut(block)) &&
    (open.size < limits.most || pushOut(largest()));

  const maxOfConnection = () =>
    all.requests < bounds.maxRequests && all.headBytes < bounds.fullAtHeadBytes
      ? bounds.maxRequestsOfConnection
      : 1;
  /** The number of requests that may come, plus one if the end of the last request is still awaited. */
  const roomOf = (connection: Connection): number => {
    if (!isTaken(connection)) return 0;
    const { newest, underWay } = connection;
    return maxOfConnection() - underWay.size + (newest && !newest.complete ? 1 : 0);
  };
  /** The connection that has most of them, not the one that comes last. */
  const heaviest = (bytes: 'heldBytes' | 'headBytes', last: Connection): Socket => {
    let most = last;
    for (const one of open.values()) if (one[bytes] > most[bytes]) most = one;
    return most.socket;
  };
  const hold = (connection: Connection, bytes: number) => {
    all.heldBytes += bytes - connection.heldBytes;
    connection.heldBytes = bytes;
    if (bytes > 0 && all.heldBytes > bounds.maxHeldBytes) drop(heaviest('heldBytes', connection), 'overfull');
  };
  const lookAtUnsent = (now: number) => {
    if (now - lookedAt < lookEveryMs) return;
    lookedAt = now;
    const unsent = [...open.values()].map((connection) => ({ connection, bytes: unsentBytes(connection) }));
    let left = unsent.reduce((sum, { bytes }) => sum + bytes, 0);
    if (left <= bounds.maxUnsentBytes) return;
    for (const { connection, bytes } of unsent.sort((a, b) => b.bytes - a.bytes)) {
      if (left <= bounds.maxUnsentBytes) return;
      drop(connection.socket, 'overfull');
      left -= bytes;
    }
  };

  return {
    add: (socket) => {
      const address = socket.remoteAddress;
      const name = networkOf(address);
      const mayHaveAll = isLoopback(address) || (address !== undefined && limits.isProxy(address));
      if (!hasRoom(blocks.get(name), mayHaveAll ? limits.most : limits.maxOfBlock)) {
        limits.onDropped('refused');
        return void socket.destroy();
      }
      const block = blocks.get(name) ?? { name, size: 0, idle: new Set(), unfinished: new Set() };
      blocks.set(name, block);
      block.size += 1;
      block.idle.add(socket);
      const connection: Connection = {
        socket,
        block,
        underWay: new Set(),
        newest: null,
        newestAt: 0,
        heldBytes: 0,
        headBytes: 0,
        ...readInPieces(
          socket,
          () => roomOf(connection),
          (bytes) => bytes === connection.heldBytes || hold(connection, bytes),
        ),
      };
      open.set(socket, connection);
      socket.once('close', () => remove(socket));
      socket.on('drain', () => {
        connection.goOn();
        onRoom(socket);
      });
    },
    begin: (request, response) => {
      const { socket } = request;
      const connection = open.get(socket);
      if (!connection) return;
      const { block, underWay } = connection;
      const headBytes = headBytesOf(request);
      const now = performance.now();
      all.requests += 1;
      all.headBytes += headBytes;
      connection.headBytes += headBytes;
      underWay.add(response);
      connection.newest = request;
      connection.newestAt = now;
      block.idle.delete(socket);
      block.unfinished.delete(socket);
      if (!request.complete) block.unfinished.add(socket); // the last of them
      response.once('close', () => {
        all.requests -= 1;
        all.headBytes -= headBytes;
        connection.headBytes -= headBytes;
        underWay.delete(response);
        if (underWay.size === 0 && open.has(socket)) block.idle.add(socket);
        connection.goOn();
        onRoom(socket);
      });
      if (all.headBytes > bounds.maxHeadBytes) drop(heaviest('headBytes', connection), 'overfull');
      lookAtUnsent(now);
    },
    isDone: (socket) => {
      const connection = open.get(socket);
      return connection !== undefined && connection.newest !== null && connection.underWay.size === 0;
    },
    cutOffSilent: () => {
      for (const [socket, { newest, underWay }] of open)
        if (underWay.size === 0 || !newest?.complete) socket.destroy();
    },
    takesAnswers: (socket) => {
      const connection = open.get(socket);
      return connection === undefined || isTaken(connection);
    },
    count: () => open.size,
  };
}
