import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { invalidRequest } from '../../platform/errors.js';
import { failureBody } from '../envelope.js';

const statusLines: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * What the HTTP parser itself refuses is answered in the API's form as well. Then the connection is closed, whether
 * its client heeds the end or not: it has `lingerMs` to read the answer.
 */
export function answerUnreadable(lingerMs: number): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const answered = new WeakSet<Duplex>();
  return (error, socket) => {
    if (answered.has(socket)) return; // what it goes on sending is as unreadable
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    answered.add(socket);
    const requestId = randomUUID();
    const failure = invalidRequest([{ path: 'request', message: 'could not be read' }]);
    const body = JSON.stringify(failureBody(failure, requestId));
    socket.end(
      [
        `HTTP/1.1 ${statusLines[error.code ?? ''] ?? '400 Bad Request'}`,
        'Content-Type: application/json; charset=utf-8',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Cache-Control: private, no-store',
        `X-Request-Id: ${requestId}`,
        'Connection: close',
        '',
        body,
      ].join('\r\n'),
    );
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  };
}
