import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import got, { type Request } from 'got';
import { createBodyHead } from './response.js';
import { errorCodeOf, errorDetailOf, type ErrorCode, type ErrorDetail } from './errors.js';
import { flatHeaders } from './headers.js';
import { createRouter, type Connection, type RouteOptions } from './connection.js';

export type { ErrorCode } from './errors.js';
export type SenderOptions = RouteOptions;

export interface SendRequest {
  /** As registered. */
  url: string;
  shipperId: string;
  headers: Record<string, string>;
  body: string;
  /** For the whole exchange: waiting for a connection, DNS, connect, TLS, request, response and its body. */
  timeoutMs: number;
  /** Asked when the connection is there, before the first byte; the promise does not reject. */
  mayStart?(): true | Promise<boolean>;
}

export interface SendOutcome {
  ok: boolean;
  /** It might not start any more: no byte of it was sent. */
  withheld: boolean;
  statusCode: number | null;
  errorCode: ErrorCode | null;
  errorDetail: ErrorDetail | null;
  /** The first 4 KiB, UTF-8 with replacement characters, without NUL; null if there was no status line. */
  responseBody: string | null;
  durationMs: number;
  /** The raw header. */
  retryAfter: string | null;
  /** There was a connection on which the request went out. */
  requestSent: boolean;
}

export interface Sender {
  send(request: SendRequest): Promise<SendOutcome>;
  /** Closes all connections: what is still in flight fails with RESET. */
  close(): void;
}

/** A receiver that says "processing" (102) more often than this has nothing else to say. */
const MAX_INFORMATIONAL_RESPONSES = 20;

/** A kept connection that breaks later than this was no stale one: the receiver had the request. */
const RESEND_WITHIN_MS = 500;

/**
 * Sends a notification once. A failure is a value: `send` never rejects.
 *
 * The status line decides. A 2xx within the timeout is a success, and any other status is `HTTP_STATUS`,
 * whatever becomes of the body after it: endless, dripping or broken off, it is read up to 8 KiB or the
 * deadline, and then the connection is dropped. Redirects are not followed, nothing is decompressed.
 *
 * A connection that was kept open and that the receiver closed before it answered a byte is no failure of the
 * receiver's (RFC 9112, 9.3.1): the request goes out once more, on a fresh connection, within the same deadline.
 */
export function createSender(options: SenderOptions): Sender {
  const router = createRouter(options);
  const post = got.extend({
    method: 'POST',
    isStream: true,
    decompress: false,
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
  });

  function open(request: SendRequest, connection: Connection, deadlineAtMs: number): Request {
    const stream = post(request.url) as unknown as Request;
    // Got asks for this once the current tick is over. Its own answer has forty members and makes a request
    // half as expensive again, or twice; these are all that Node needs.
    Object.assign(stream.options ?? {}, {
      createNativeRequestOptions: () => {
        const url = stream.options.url as URL;
        const asker = { shipperId: request.shipperId, deadlineAtMs };
        const headers = flatHeaders(url, request.headers, request.body);
        return { ...router.route(url, request.url, connection, asker), headers };
      },
    });
    return stream;
  }

  return {
    send: (request) =>
      new Promise((resolve) => {
        const deadlineAtMs = performance.now() + request.timeoutMs;
        exchange(request, (connection) => open(request, connection, deadlineAtMs), resolve);
      }),
    close: () => router.close(),
  };
}

function exchange(
  request: SendRequest,
  open: (connection: Connection) => Request,
  resolve: (outcome: SendOutcome) => void,
): void {
  const startedAtMs = performance.now();
  const body = createBodyHead();
  let response: IncomingMessage | null = null;
  let stream: Request | null = null;
  let requestSent = false;
  let settled = false;
  const deadline = setTimeout(() => abandon('TIMEOUT'), request.timeoutMs);
  start('pooled');

  function start(connection: Connection): void {
    let bytesReadBefore = 0;
    requestSent = false;
    const current = open(connection);
    stream = current;
    current.on('error', (error) => {
      const errorCode = errorCodeOf(error);
      const stale = errorCode === 'RESET' && isStale(current, bytesReadBefore);
      const early = performance.now() - startedAtMs < RESEND_WITHIN_MS;
      if (stale && early && connection === 'pooled' && !settled) start('fresh');
      else settle(errorCode, { detail: errorDetailOf(error.cause) });
    });
    current.on('socket', (socket: Socket) => (bytesReadBefore = socket.bytesRead));
    current.on('request', (native: ClientRequest) => prepare(native));
    current.on('response', (incoming: IncomingMessage) => read(incoming));
  }

  function prepare(native: ClientRequest): void {
    let informational = 0;
    // Got listens for one error; Node can emit a second one, which would end the process.
    native.on('error', () => {});
    native.on('information', () => {
      if (++informational > MAX_INFORMATIONAL_RESPONSES) abandon('PROTOCOL');
    });
    // Nobody asked for 101; Node leaves the connection to this listener.
    native.on('upgrade', (_response: IncomingMessage, socket: Socket) => {
      socket.destroy();
      abandon('PROTOCOL');
    });
    native.once('socket', (socket) => whenOpen(socket, () => begin(native)));
  }

  /** What is written before the connection is there would go out whenever it is. */
  function begin(native: ClientRequest): void {
    if (settled) return;
    const may = request.mayStart?.() ?? true;
    if (may === true) write(native);
    else void may.then((now) => goOn(native, now));
  }

  function write(native: ClientRequest): void {
    requestSent = true;
    native.end(request.body);
  }

  function goOn(native: ClientRequest, may: boolean): void {
    if (settled) return;
    if (may) return write(native);
    settle(null, { withheld: true });
    stream?.destroy();
  }

  /** Reads Node's response itself: got would only copy it into a second stream. */
  function read(incoming: IncomingMessage): void {
    response = incoming;
    incoming.on('readable', () => {
      let chunk: Buffer | null;
      while (!settled && (chunk = incoming.read() as Buffer | null) !== null) {
        if (!body.add(chunk)) abandon(null);
      }
    });
    incoming.on('end', () => settle(null));
  }

  function abandon(errorCode: ErrorCode | null): void {
    settle(errorCode);
    stream?.destroy();
  }

  function settle(
    errorCode: ErrorCode | null,
    { withheld = false, detail = null }: { withheld?: boolean; detail?: ErrorDetail | null } = {},
  ): void {
    if (settled) return;
    settled = true;
    clearTimeout(deadline);
    const statusCode = response?.statusCode ?? null;
    const ok = statusCode !== null && statusCode >= 200 && statusCode < 300;
    resolve({
      ok,
      withheld,
      statusCode,
      errorCode: ok ? null : statusCode !== null ? 'HTTP_STATUS' : errorCode,
      errorDetail: statusCode === null ? detail : null,
      responseBody: response ? body.text() : null,
      durationMs: Math.round(performance.now() - startedAtMs),
      retryAfter: response?.headers['retry-after'] ?? null,
      requestSent,
    });
  }
}

/** Calls back when the connection is there, its TLS handshake included; if it fails, not at all. */
function whenOpen(socket: Socket, callback: () => void): void {
  if (socket instanceof TLSSocket) {
    if (socket.authorized) callback();
    else socket.once('secureConnect', callback);
  } else if (socket.connecting) socket.once('connect', callback);
  else callback();
}

/** Whether a kept connection was closed before the receiver answered a byte. */
function isStale(stream: Request, bytesReadBefore: number): boolean {
  return stream.reusedSocket === true && stream.socket?.bytesRead === bytesReadBefore;
}
