import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopback } from '../../platform/networks.js';
import { networkOf } from '../origin.js';
import { cutBody } from './small-chunks.js';

export interface ConnectionLimits {
  maxConnections: number;
  maxPerBlock: number;
  /** True for a proxy: it carries the connections of many clients, so its address block may have every connection. */
  isProxy(address: string): boolean;
  onDropped(why: Dropped): void;
}

export type Dropped = 'refused' | 'displaced' | 'overfull' | 'blank';

/** Bounds on the memory that requests and responses take. */
export const defaultBounds = {
  /** Requests under way on one connection; a connection with this many is not read. */
  maxRequestsPerConnection: 8,
  /**
   * Once so many requests are under way in total, or their heads have this size, each connection may have one request.
   */
  maxRequests: 64,
  fullAtHeadBytes: 16 * 1024 * 1024,
  /** Beyond this, the connection with the largest heads is destroyed. */
  maxHeadBytes: 64 * 1024 * 1024,
  /** Bytes read and not yet used; beyond this, the connection with most of them is destroyed. */
  maxHeldBytes: 64 * 1024 * 1024,
  /** Response bytes that clients have not read; beyond this, the connections with most of them are destroyed. */
  maxUnsentBytes: 64 * 1024 * 1024,
};
export type Bounds = typeof defaultBounds;

interface Block {
  name: string;
  size: number;
  /** Longest idle first. */
  idle: Set<Socket>;
  /** Connections whose newest request was incomplete when it began; oldest first. */
  unfinished: Set<Socket>;
}

interface Connection {
  socket: Socket;
  block: Block;
  underWay: Set<ServerResponse>;
  newest: IncomingMessage | null;
  newestAt: number;
  /** Its latest chunk until the next one or a response, and what waits behind it: its request may not have started. */
  heldBytes: number;
  headBytes: number;
  /** Reads from the socket again, if there is room. */
  resume(): void;
}

const unsentBytes = ({ socket, underWay }: Connection): number => {
  let bytes = underWay.size === 0 ? socket.writableLength : 0;
  for (const response of underWay) bytes += response.writableLength;
  return bytes;
};

const isReading = (connection: Connection): boolean =>
  !connection.socket.writableNeedDrain && unsentBytes(connection) < connection.socket.writableHighWaterMark;

/** Memory of a header's two strings, besides their characters. */
const headerOverheadBytes = 32;

const headBytesOf = ({ url = '', rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce(
    (bytes, text) => bytes + text.length + headerOverheadBytes,
    url.length + headerOverheadBytes,
  );

const unsentCheckIntervalMs = 100;

/** A connection whose request stays incomplete for longer may be displaced. */
const unfinishedGraceMs = 1_000;

/**
 * Bounds the number of connections. When there are too many, the longest idle one is closed, from the same block or from
 * the largest block. If none is idle, one whose request is incomplete is closed: a client that sends half a request and
 * waits is displaced by clients that send a whole one. A connection with a complete request under way is never
 * displaced. A connection that has many requests under way, or does not read its responses, is not read. `onRoom` is
 * called when one of its responses has closed or drained.
 */
export function createConnections(
  limits: ConnectionLimits,
  onRoom: (socket: Socket) => void = () => undefined,
  bounds: Bounds = defaultBounds,
) {
  const blocks = new Map<string, Block>();
  const open = new Map<Socket, Connection>();
  const all = { requests: 0, headBytes: 0, heldBytes: 0 };
  let unsentCheckedAt = 0;

  const remove = (socket: Socket) => {
    const connection = open.get(socket);
    if (!connection) return;
    const { block, underWay } = connection;
    setHeld(connection, 0);
    open.delete(socket);
    block.idle.delete(socket);
    block.unfinished.delete(socket);
    block.size -= 1;
    if (block.size === 0) blocks.delete(block.name);
    // Node closes only the response being sent, not those queued behind it.
    for (const response of underWay) response.destroy().emit('close');
  };
  /** The first is the oldest: if it is within its grace, all are. */
  const firstUnfinished = ({ unfinished }: Block): Socket | undefined => {
    for (const socket of unfinished) {
      const { newest, newestAt } = open.get(socket)!;
      if (newest && !newest.complete)
        return performance.now() - newestAt > unfinishedGraceMs ? socket : undefined;
      unfinished.delete(socket);
    }
    return undefined;
  };
  const drop = (socket: Socket, why: Dropped) => {
    limits.onDropped(why);
    remove(socket);
    socket.destroy();
  };
  const displace = (block: Block): boolean => {
    const [longestIdle] = block.idle;
    const victim = longestIdle ?? firstUnfinished(block);
    if (victim) drop(victim, 'displaced');
    return victim !== undefined;
  };
  const largest = () => [...blocks.values()].reduce((a, b) => (b.size > a.size ? b : a));
  const hasRoom = (block: Block | undefined, share: number): boolean =>
    (block === undefined || block.size < share || displace(block)) &&
    (open.size < limits.maxConnections || displace(largest()));

  const maxOfConnection = () =>
    all.requests < bounds.maxRequests && all.headBytes < bounds.fullAtHeadBytes
      ? bounds.maxRequestsPerConnection
      : 1;
  /** How many more requests may begin, plus one if the newest request is incomplete. */
  const roomOf = (connection: Connection): number => {
    if (!isReading(connection)) return 0;
    const { newest, underWay } = connection;
    return maxOfConnection() - underWay.size + (newest && !newest.complete ? 1 : 0);
  };
  /** Ties go to `last`. */
  const heaviest = (bytes: 'heldBytes' | 'headBytes', last: Connection): Socket => {
    let max = last;
    for (const one of open.values()) if (one[bytes] > max[bytes]) max = one;
    return max.socket;
  };
  const setHeld = (connection: Connection, bytes: number) => {
    all.heldBytes += bytes - connection.heldBytes;
    connection.heldBytes = bytes;
    if (bytes > 0 && all.heldBytes > bounds.maxHeldBytes) drop(heaviest('heldBytes', connection), 'overfull');
  };
  const checkUnsent = (now: number) => {
    if (now - unsentCheckedAt < unsentCheckIntervalMs) return;
    unsentCheckedAt = now;
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
    /** Admits a connection, if necessary in place of another one; destroys it if there is no room. */
    add: (socket: Socket) => {
      const address = socket.remoteAddress;
      const name = networkOf(address);
      const isUnbounded = address !== undefined && (isLoopback(address) || limits.isProxy(address));
      if (!hasRoom(blocks.get(name), isUnbounded ? limits.maxConnections : limits.maxPerBlock)) {
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
        ...readInPieces(socket, {
          room: () => roomOf(connection),
          incomplete: () => (connection.newest?.complete === false ? connection.newest : null),
          onHeld: (bytes) => setHeld(connection, bytes),
          onBlank: () => drop(socket, 'blank'),
        }),
      };
      open.set(socket, connection);
      socket.once('close', () => remove(socket));
      socket.on('drain', () => {
        connection.resume();
        onRoom(socket);
      });
    },
    /** Registers a request whose head has arrived. Its response closes when it ends, or with its connection. */
    begin: (request: IncomingMessage, response: ServerResponse) => {
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
      if (!request.complete) block.unfinished.add(socket);
      response.once('close', () => {
        all.requests -= 1;
        all.headBytes -= headBytes;
        connection.headBytes -= headBytes;
        underWay.delete(response);
        if (open.has(socket)) {
          setHeld(connection, socket.readableLength);
          if (underWay.size === 0) block.idle.add(socket);
        }
        connection.resume();
        onRoom(socket);
      });
      if (all.headBytes > bounds.maxHeadBytes) drop(heaviest('headBytes', connection), 'overfull');
      checkUnsent(now);
    },
    isDone: (socket: Socket) => {
      const connection = open.get(socket);
      return connection !== undefined && connection.newest !== null && connection.underWay.size === 0;
    },
    /** Destroys connections that have no complete request under way. */
    destroyInactive: () => {
      for (const [socket, { newest, underWay }] of open)
        if (underWay.size === 0 || !newest?.complete) socket.destroy();
    },
    /** Whether the client reads its responses; if not, no further request of it starts. */
    readsResponses: (socket: Socket) => {
      const connection = open.get(socket);
      return connection === undefined || isReading(connection);
    },
    count: () => open.size,
  };
}

const blankLine = '\r\n\r\n';

const isLineEnd = (byte: number | undefined) => byte === 0x0d || byte === 0x0a;

/**
 * The end of the piece that starts at `from` and contains the ends of at most `heads` request heads. Line ends that
 * follow one begin another piece.
 */
export function endOfPiece(chunk: Buffer, from: number, heads: number): number {
  let end = from;
  for (let left = heads; left > 0; left -= 1) {
    const next = chunk.indexOf(blankLine, end, 'latin1');
    if (next === -1) return chunk.length;
    end = next + blankLine.length;
    if (isLineEnd(chunk[end])) break;
  }
  return end;
}

/**
 * Pieces of one connection before it rests: each is a call of the parser, and a blank line in a body makes one, too.
 */
const maxPieces = 4;
const restMs = 5;
/**
 * Of sockets and requests. Node reads the next chunk, of up to 64 KiB, unless so much of the last one is left: that waits
 * for another event-loop tick, and longer if its request waits.
 */
export const highWaterMark = 16 * 1024;
/** CR and LF between two requests; RFC 9112, 2.2, has a server ignore one line end. */
const maxLineEnds = 64;
/** Bytes read for one body, framing included; the largest body has half as much. */
const maxRawBytes = 512 * 1024;

function lineEndsAt(chunk: Buffer, from: number): number {
  let at = from;
  while (at - from <= maxLineEnds && isLineEnd(chunk[at])) at += 1;
  return at - from;
}

interface Reading {
  /** How many more heads may be parsed. */
  room(): number;
  /** The newest request while its body is arriving. */
  incomplete(): IncomingMessage | null;
  /** The bytes that its memory keeps from now on. */
  onHeld(bytes: number): void;
  /** There are too many line ends between two requests. */
  onBlank(): void;
}

/**
 * Passes the bytes from a connection to Node's parser in pieces of as many requests as the connection has room for.
 * Pausing the socket is not enough: the parser turns the whole chunk it is given into requests, 3,400 from 64 KiB.
 * Bytes without room stay on the socket until `resume`. Call this after the server has attached to the connection and
 * before any byte has arrived.
 */
function readInPieces(socket: Socket, { room, incomplete, onHeld, onBlank }: Reading) {
  const [parse] = socket.listeners('data') as ((chunk: Buffer) => void)[];
  let isFull = false;
  let isResting = false;
  let resumesAfterRest = false;
  let lineEnds = 0;
  let bodyOf: IncomingMessage | null = null;
  let rawBytes = 0;

  const putBack = (unparsed: Buffer) => {
    socket.pause(); // first: a flowing socket would emit the bytes again at once
    const isSmallPart = unparsed.length < unparsed.buffer.byteLength / 2; // a small slice keeps its whole buffer in memory
    socket.unshift(isSmallPart ? Buffer.from(unparsed) : unparsed);
  };
  /** Node resumes what it has paused itself. */
  const rest = (schedule: (wake: () => void) => unknown) => {
    resumesAfterRest ||= !socket.isPaused();
    socket.pause();
    if (isResting) return;
    isResting = true;
    schedule(() => {
      isResting = false;
      if (resumesAfterRest) socket.resume();
      resumesAfterRest = false;
    });
  };
  /** False if the body has too many bytes: then its connection is no longer parsed. */
  const admitRaw = (request: IncomingMessage, bytes: number): boolean => {
    rawBytes = request === bodyOf ? rawBytes + bytes : bytes;
    bodyOf = request;
    if (rawBytes <= maxRawBytes) return true;
    cutBody(request);
    return false;
  };
  const read = (chunk: Buffer) => {
    onHeld(chunk.length + socket.readableLength);
    isFull = false;
    const isLarge = chunk.length >= 2 * highWaterMark;
    const now = isLarge ? chunk.subarray(0, -highWaterMark) : chunk;
    let from = 0;
    for (let pieces = 0; from < now.length && socket.writable; pieces += 1) {
      // The server also pauses and resumes sockets itself.
      if (socket.isPaused()) return putBack(chunk.subarray(from));
      const heads = room();
      if (heads <= 0) isFull = true;
      else if (isResting || pieces === maxPieces) rest((wake) => setTimeout(wake, restMs));
      if (isFull || isResting) return putBack(chunk.subarray(from));
      const request = incomplete();
      const blank = request ? 0 : lineEndsAt(now, from);
      // The first line ends may end a head that came in parts; those after them are dropped.
      const passed = Math.min(blank, Math.max(0, blankLine.length - lineEnds));
      lineEnds = blank === 0 ? 0 : lineEnds + (passed || blank);
      if (lineEnds > maxLineEnds) return onBlank();
      const end = blank === 0 ? endOfPiece(now, from, heads) : from + (passed || blank);
      if (request && !admitRaw(request, end - from)) return;
      if (blank === 0 || passed > 0)
        parse!(from === 0 && end === chunk.length ? chunk : now.subarray(from, end));
      from = end;
    }
    if (!isLarge || !socket.writable) return;
    rest(setImmediate);
    putBack(chunk.subarray(from));
  };
  if (parse) socket.off('data', parse).on('data', read);
  return {
    resume: () => {
      if (!isFull || room() <= 0) return;
      isFull = false;
      socket.resume();
    },
  };
}
