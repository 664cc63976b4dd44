import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { TLSSocket } from 'node:tls';
import got, { type Request } from 'got';
import { errorCodeOf, errorDetailOf, isFramedTwice, type ErrorCode, type ErrorDetail } from './errors.js';
import { withFraming, type FlatHeaders } from './headers.js';
import {
  createProgress,
  createRouter,
  READ_BYTES,
  remoteAddressOf,
  type Connection,
  type Phase,
  type PhaseTimes,
  type Progress,
  type RouteOptions,
} from './connection.js';
import { wireOf } from './kept.js';

export type SenderOptions = RouteOptions;

export interface SendRequest {
  /** The address as registered. */
  url: string;
  shipperId: string;
  /** The headers without Host and Content-Length, which are added. */
  headers: FlatHeaders;
  body: string | Uint8Array;
  /** The limit of the whole exchange: waiting for a connection, DNS, connect, TLS, request and response. */
  timeoutMs: number;
  /** Called once connected, before the first byte. The promise does not reject. */
  mayStart?(): true | Promise<boolean>;
  /** Called at the end of each phase of the exchange; those of a reused connection have been before. */
  onPhase?: ((phase: Phase) => void) | undefined;
}

/** The phases are those of the last connection, if the request was sent on a second one. */
export interface SendOutcome extends PhaseTimes {
  ok: boolean;
  /** `mayStart` refused: no byte was sent. */
  withheld: boolean;
  statusCode: number | null;
  errorCode: ErrorCode | null;
  errorDetail: ErrorDetail | null;
  /** The first 4 KiB, as UTF-8 with replacement characters and without NUL; null if no head could be read. */
  responseBody: string | null;
  /** Names and values in turn, as they came; null if no head could be read. */
  rawResponseHeaders: FlatHeaders | null;
  durationMs: number;
  /** The receiver's IP address, also if the connection failed, and also behind a proxy; null if none was chosen. */
  remoteAddress: string | null;
  retryAfter: string | null;
  /** The response's header `webhook-delivery`, not parsed. */
  webhookDelivery: string | null;
  requestSent: boolean;
}

export interface Sender {
  send(request: SendRequest): Promise<SendOutcome>;
  /** Attempts in flight fail with RESET. */
  close(): void;
}

/** More 1xx responses than a working receiver sends. */
const MAX_INFORMATIONAL_RESPONSES = 20;

/** A reused connection that breaks later was not stale: the receiver had the request. */
const RESEND_WITHIN_MS = 500;

/** A head that Node takes and what is read of a body are less than half as long. */
const MAX_RECEIVED_BYTES = 64 * 1024;
const CHECK_EVERY_MS = 250;

/**
 * Sends a notification once. A failure is a value: `send` never rejects.
 *
 * The status line decides: a 2xx within the timeout is a success, any other status is `HTTP_STATUS`, whatever is wrong
 * with the headers, and whatever becomes of the body. An endless, slow or broken body is read up to 8 KiB or the
 * deadline, then the connection is dropped, as it is after 64 KiB of anything. Redirects are not followed, nothing is
 * decompressed.
 *
 * If the receiver closes a reused connection before it sends a byte, that is no failure (RFC 9112, 9.3.1): the request
 * is sent once more, on a fresh connection, within the same deadline.
 */
export function createSender(options: SenderOptions): Sender {
  const router = createRouter(options);
  const post = got.extend({
    method: 'POST',
    isStream: true,
    decompress: false,
    followRedirect: false,
    throwHttpErrors: false,
    // Got copies these lists for each request.
    retry: { limit: 0, methods: [], statusCodes: [], errorCodes: [] },
  });

  function open(
    request: SendRequest,
    connection: Connection,
    progress: Progress,
    deadlineAtMs: number,
  ): Request {
    const stream = post(request.url) as unknown as Request;
    // Got calls these in the next tick. Its own versions cost up to as much again: Node needs only these options, and no
    // separate URL.
    Object.assign(stream.options ?? {}, {
      createNativeRequestOptions: () => {
        const url = stream.options.url as URL;
        const requester = { shipperId: request.shipperId, deadlineAtMs };
        const headers = withFraming(url.host, request.headers, request.body);
        return router.route(url, request.url, connection, headers, requester, progress);
      },
      getRequestFunction: () => (_url: URL, options: http.RequestOptions) => http.request(options),
    });
    return stream;
  }

  return {
    send: (request) =>
      new Promise((resolve) => {
        const deadlineAtMs = performance.now() + request.timeoutMs;
        exchange(
          request,
          (connection, progress) => open(request, connection, progress, deadlineAtMs),
          resolve,
        );
      }),
    close: () => router.close(),
  };
}

function exchange(
  request: SendRequest,
  open: (connection: Connection, progress: Progress) => Request,
  resolve: (outcome: SendOutcome) => void,
): void {
  const startedAtMs = performance.now();
  const body = createBodyHead();
  let response: IncomingMessage | null = null;
  let stream: Request | null = null;
  let connected: Socket | null = null;
  let wire: ReturnType<typeof wireOf> = null;
  const statusLine = new StatusLine();
  let receivedBytes = 0;
  let wireBytesBefore = 0;
  let progress = createProgress(request.onPhase);
  let requestSent = false;
  let settled = false;
  let timer = setTimeout(check, Math.min(request.timeoutMs, CHECK_EVERY_MS));
  start('pooled');

  function start(connection: Connection): void {
    requestSent = false;
    if (connection === 'fresh') progress = createProgress(request.onPhase);
    const current = open(connection, progress);
    stream = current;
    current.on('error', (error) => {
      const errorCode = errorCodeOf(error);
      const stale = errorCode === 'RESET' && current.reusedSocket === true && receivedBytes === 0;
      const early = performance.now() - startedAtMs < RESEND_WITHIN_MS;
      if (stale && early && connection === 'pooled' && !settled) start('fresh');
      else fail(errorCode, error.cause);
    });
    current.on('request', (native: ClientRequest) => prepare(native));
    current.on('response', (incoming: IncomingMessage) => read(incoming));
  }

  function prepare(native: ClientRequest): void {
    let informational = 0;
    // Got listens for one error only; a second one would end the process.
    native.on('error', () => {});
    native.on('information', () => {
      if (++informational > MAX_INFORMATIONAL_RESPONSES) abandon('PROTOCOL');
    });
    // Node leaves the connection of a 101, which we never request, to this listener.
    native.on('upgrade', (_response: IncomingMessage, socket: Socket) => {
      socket.destroy();
      abandon('PROTOCOL');
    });
    native.once('socket', (socket) => {
      connected = socket;
      socket.prependListener('data', receive); // before Node's parser, which may not get over it
      if (isOpen(socket)) return begin(native, socket);
      watchWire(socket);
      socket.once('connect', () => watchWire(socket)); // it may have another handle by then
      socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => begin(native, socket));
    });
  }

  function watchWire(socket: Socket): void {
    wire = wireOf(socket);
    wireBytesBefore = wire?.bytesRead ?? 0;
  }

  /** Writes nothing before the connection is open: it would go out whenever that happens. */
  function begin(native: ClientRequest, socket: Socket): void {
    if (settled) return;
    progress.remoteAddress = remoteAddressOf(socket);
    watchWire(socket);
    const may = request.mayStart?.() ?? true;
    if (may === true) write(native);
    else void may.then((isAllowed) => goOn(native, isAllowed));
  }

  function write(native: ClientRequest): void {
    requestSent = true;
    native.end(request.body);
    progress.ended('request');
  }

  function goOn(native: ClientRequest, isAllowed: boolean): void {
    if (settled) return;
    if (isAllowed) return write(native);
    settle(null, { withheld: true });
    stream?.destroy();
  }

  /** All that comes, also what Node passes over: line ends, spaces, extensions of chunks. */
  function receive(chunk: Buffer): void {
    receivedBytes += chunk.length;
    if (response === null) statusLine.add(chunk);
    if (receivedBytes > MAX_RECEIVED_BYTES) endTooLarge();
  }

  /** Node shows nothing of what TLS itself sends. A short attempt ends before it is checked. */
  function check(): void {
    const leftMs = startedAtMs + request.timeoutMs - performance.now();
    if (leftMs <= 0) return abandon('TIMEOUT');
    if (requestSent && wireBytes() > MAX_RECEIVED_BYTES) return endTooLarge();
    timer = setTimeout(check, Math.min(leftMs, CHECK_EVERY_MS));
  }

  /** Since the connection was made, and once it is open, since the request. */
  function wireBytes(): number {
    return (wire?.bytesRead ?? 0) - wireBytesBefore;
  }

  /** Reads Node's response directly: got would copy it into a second stream. */
  function read(incoming: IncomingMessage): void {
    response = incoming;
    progress.ended('first byte');
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

  function endTooLarge(): void {
    const statusCode = statusLine.statusCode();
    settle('PROTOCOL', { statusCode, detail: 'RESPONSE_TOO_LARGE' });
    stream?.destroy();
  }

  /** The status counts even if Node cannot read what follows it; not if it can be read in two ways. */
  function fail(errorCode: ErrorCode, cause: unknown): void {
    const detail = errorDetailOf(cause, wireBytes());
    if (response) return settle(errorCode, { detail: detail === 'RESPONSE_TOO_LARGE' ? detail : null });
    const statusCode = isFramedTwice(cause) ? null : statusLine.statusCode();
    settle(errorCode, { statusCode, detail: detail ?? (statusCode === null ? null : 'MALFORMED_HEADER') });
  }

  /** `statusCode` is that of a response whose headers could not be read. */
  function settle(
    errorCode: ErrorCode | null,
    { withheld = false, detail = null, statusCode = null }: End = {},
  ): void {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    connected?.off('data', receive);
    const status = response?.statusCode ?? statusCode;
    const ok = status !== null && status >= 200 && status < 300;
    resolve({
      ok,
      withheld,
      statusCode: status,
      errorCode: ok ? null : status !== null ? 'HTTP_STATUS' : errorCode,
      errorDetail: detail,
      responseBody: response ? body.text() : null,
      rawResponseHeaders: response?.rawHeaders ?? null,
      durationMs: Math.round(performance.now() - startedAtMs),
      ...progress.times,
      remoteAddress: progress.remoteAddress,
      retryAfter: response?.headers['retry-after'] ?? null,
      webhookDelivery: [response?.headers['webhook-delivery'] ?? null].flat()[0] ?? null,
      requestSent,
    });
  }
}

interface End {
  withheld?: boolean;
  detail?: ErrorDetail | null;
  statusCode?: number | null;
}

/** After the TLS handshake; not at all if it fails. */
const isOpen = (socket: Socket) => (socket instanceof TLSSocket ? socket.authorized : !socket.connecting);

const STORED_BYTES = 4 * 1024;

interface BodyHead {
  /** Returns false once enough is read. */
  add(chunk: Buffer): boolean;
  text(): string;
}

/** 8 KiB are read, so that most connections can be reused, and 4 KiB are stored. */
function createBodyHead(): BodyHead {
  const chunks: Buffer[] = [];
  let readBytes = 0;
  return {
    add(chunk) {
      if (readBytes < STORED_BYTES) chunks.push(chunk.subarray(0, STORED_BYTES - readBytes));
      readBytes += chunk.length;
      return readBytes < READ_BYTES;
    },
    text() {
      const head = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      // A character that is cut in two is left out. PostgreSQL's text has no NUL.
      const text = readBytes > STORED_BYTES ? new StringDecoder('utf8').write(head) : head.toString('utf8');
      return text.replaceAll('\0', '');
    },
  };
}

/** The line need not be complete: nothing that follows the code decides anything (RFC 9112, 4). */
const statusLine = /^HTTP\/\d\.\d (\d{3})(?=[ \r\n])/;
const endOfHead = /\n\r?\n/;

/** Finds the final status in what came of a response, for when Node cannot read its headers. */
class StatusLine {
  /** Nearly always, Node reads the head from the first chunk, and nobody asks. */
  #unread: Buffer | null = null;
  #text = '';
  #found: number | null = null;

  add(chunk: Buffer): void {
    if (this.#unread !== null) this.#read();
    this.#unread = chunk;
  }

  statusCode(): number | null {
    this.#read();
    return this.#found;
  }

  #read(): void {
    if (this.#unread === null || this.#found !== null) return;
    // Like Node, passes over line ends before the line (RFC 9112, 2.2).
    this.#text = (this.#text + this.#unread.toString('latin1')).replace(/^[\r\n]+/, '');
    this.#unread = null;
    for (let line; (line = statusLine.exec(this.#text));) {
      if (!line[1]!.startsWith('1')) {
        this.#found = Number(line[1]);
        return;
      }
      const end = endOfHead.exec(this.#text);
      if (!end || line[1] === '101') return; // after a 101 there is no HTTP
      this.#text = this.#text.slice(end.index).replace(/^[\r\n]+/, '');
    }
  }
}
