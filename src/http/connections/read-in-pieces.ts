import type { Socket } from 'node:net';

const blankLine = '\r\n\r\n';

/** The end of the piece that starts at `from` and contains the ends of at most `heads` request heads. */
export function endOfPiece(chunk: Buffer, from: number, heads: number): number {
  let end = from;
  for (let left = heads; left > 0; left -= 1) {
    const next = chunk.indexOf(blankLine, end, 'latin1');
    if (next === -1) return chunk.length;
    end = next + blankLine.length;
  }
  return end;
}

/**
 * Passes the bytes from a connection to Node's parser in pieces of as many requests as the connection has room for.
 * Pausing the socket is not enough: the parser turns the whole chunk it is given into requests, 3,400 from 64 KiB.
 * Bytes without room stay on the socket until `resume`; `onUnparsed` receives their number. Call this after the server
 * has attached to the connection and before any byte has arrived.
 */
export function readInPieces(socket: Socket, room: () => number, onUnparsed: (bytes: number) => void) {
  const [parse] = socket.listeners('data') as ((chunk: Buffer) => void)[];
  let isFull = false;
  const putBack = (rest: Buffer) => {
    socket.pause(); // first: a flowing socket would emit the bytes again at once
    socket.unshift(rest);
    onUnparsed(socket.readableLength);
  };
  const read = (chunk: Buffer) => {
    onUnparsed(0);
    isFull = false;
    for (let from = 0; from < chunk.length && socket.writable;) {
      // The server also pauses and resumes sockets itself.
      if (socket.isPaused()) return putBack(chunk.subarray(from));
      const heads = room();
      if (heads <= 0) {
        isFull = true;
        return putBack(chunk.subarray(from));
      }
      const end = endOfPiece(chunk, from, heads);
      parse!(from === 0 && end === chunk.length ? chunk : chunk.subarray(from, end));
      from = end;
    }
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
