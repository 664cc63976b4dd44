import type { Socket } from 'node:net';

const blankLine = '\r\n\r\n';

/** Where the piece that starts at `from` ends: it holds the ends of at most this many requests' heads. */
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
 * Hands the bytes from a connection to Node's parser in pieces of as many requests as the connection has room for.
 * Pausing the socket is not enough: the parser turns the whole chunk it was given into requests, 3,400 from 64 KiB.
 * Bytes without room stay on the socket, which is read again with `goOn`; `onHeld` is told how many wait there. To be
 * called when the server has the connection, and nothing has come yet.
 */
export function readInPieces(socket: Socket, room: () => number, onHeld: (bytes: number) => void) {
  const [parse] = socket.listeners('data') as ((chunk: Buffer) => void)[];
  let noRoom = false;
  const hold = (rest: Buffer) => {
    socket.pause(); // before: a flowing socket would bring it again at once
    socket.unshift(rest);
    onHeld(socket.readableLength);
  };
  const read = (chunk: Buffer) => {
    onHeld(0);
    noRoom = false;
    for (let from = 0; from < chunk.length && socket.writable;) {
      // The server pauses a socket for reasons of its own, and resumes it.
      if (socket.isPaused()) return hold(chunk.subarray(from));
      const heads = room();
      if (heads <= 0) {
        noRoom = true;
        return hold(chunk.subarray(from));
      }
      const end = endOfPiece(chunk, from, heads);
      parse!(from === 0 && end === chunk.length ? chunk : chunk.subarray(from, end));
      from = end;
    }
  };
  if (parse) socket.off('data', parse).on('data', read);
  return {
    goOn: () => {
      if (!noRoom || room() <= 0) return;
      noRoom = false;
      socket.resume();
    },
  };
}
