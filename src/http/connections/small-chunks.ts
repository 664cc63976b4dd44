import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Node makes an object of each chunk of a body: more than `maxChunks` must have so many bytes on average. */
export const maxChunks = 4_096;
export const minChunkBytes = 16;

export interface Chunks {
  count: number;
  bytes: number;
  /** True if chunks were too small: the connection is no longer parsed. */
  isCut: boolean;
  onCut: (() => void) | undefined;
}

export const startOfBody = (): Chunks => ({ count: 0, bytes: 0, isCut: false, onCut: undefined });

export const chunksOf = (request: IncomingMessage): Chunks | undefined =>
  (request as { chunks?: Chunks }).chunks;

/** Counts a chunk. False if it is to be dropped, since the body comes in too small chunks: then its connection is cut. */
export function admitChunk(chunks: Chunks, bytes: number, socket: Socket): boolean {
  if (chunks.isCut) return false;
  chunks.count += 1;
  chunks.bytes += bytes;
  if (chunks.count <= maxChunks || chunks.bytes >= chunks.count * minChunkBytes) return true;
  cut(chunks, socket);
  return false;
}

function cut(chunks: Chunks, socket: Socket): void {
  chunks.isCut = true;
  stopParsing(socket);
  chunks.onCut?.();
}

/** Cuts off a body of which too much is not its content, such as the zeros of a chunk's size. */
export function cutBody(request: IncomingMessage): void {
  const chunks = chunksOf(request);
  if (chunks) cut(chunks, request.socket);
}

/** How often a chunk is dropped: a client at full speed would cost a tick of the event loop for each. */
const dropEveryMs = 10;

/** From now on all that comes is read and dropped, so that the client still gets its response. Close the connection then. */
export function stopParsing(socket: Socket): void {
  const drop = () => {
    socket.pause();
    setTimeout(() => socket.resume(), dropEveryMs);
  };
  socket.removeAllListeners('data').on('data', drop).resume();
}
