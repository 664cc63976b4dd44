import http from 'node:http';
import https from 'node:https';
import { isPlainHttp } from '../http/exchange.js';

export interface SignedNotification {
  headers: Record<string, string>;
  body: string;
}

/** The outcome of a notification at the local server. */
export interface Forwarded {
  ok: boolean;
  statusCode: number | null;
  /** Why there was no response, as in the delivery log: `DNS`, `CONNECT`, `TLS`, `RESET`, `PROTOCOL`, `TIMEOUT`. */
  errorCode: string | null;
  durationMs: number;
  response: LocalResponse | null;
  obstacle: Obstacle | null;
}

/** A reason for which no notification can arrive, and what to do. */
export interface Obstacle {
  cause: 'NOTHING_LISTENS' | 'NO_TLS';
  message: string;
}

export interface LocalResponse {
  text: string;
  /** The header, which tells its clock. */
  date: string | undefined;
  /** Whether its `WWW-Authenticate` asks for a name and a password. Every 401 has the header. */
  asksForLogin: boolean;
}

export interface ForwardOptions {
  timeoutMs: number;
  signal: AbortSignal;
}

const login = /(^|,)\s*(Basic|Digest|Negotiate)\b/i;
const maxReadBytes = 64 * 1_024;
const maxTextBytes = 4 * 1_024;

/** Posts once, without following redirects. Returns failures; rejects only when its signal aborts. */
export function forward(
  target: URL,
  { headers, body }: SignedNotification,
  { timeoutMs, signal }: ForwardOptions,
): Promise<Forwarded> {
  const startedAt = performance.now();
  const deadline = AbortSignal.timeout(timeoutMs);
  const { request } = target.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const end = (
      statusCode: number | null,
      errorCode: string | null,
      { response = null, obstacle = null }: Partial<Pick<Forwarded, 'response' | 'obstacle'>> = {},
    ) =>
      resolve({
        ok: statusCode !== null && statusCode >= 200 && statusCode < 300,
        statusCode,
        errorCode,
        durationMs: Math.round(performance.now() - startedAt),
        response,
        obstacle,
      });
    // A new connection each time: the server may close an idle one just as it is reused.
    const sent = request(target, {
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      signal: AbortSignal.any([signal, deadline]),
    });
    let isConnected = false;
    sent.on('socket', (socket) => socket.once('connect', () => (isConnected = true)));
    let hasResponse = false;
    sent.on('response', (response) => {
      hasResponse = true;
      let readBytes = 0;
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        if (readBytes < maxTextBytes) chunks.push(chunk.subarray(0, maxTextBytes - readBytes));
        readBytes += chunk.length;
        if (readBytes > maxReadBytes) response.destroy();
      });
      response.on('error', () => undefined); // the status is already known
      response.on('close', () => {
        if (signal.aborted) return reject(reasonOf(signal));
        const { date, 'www-authenticate': challenge } = response.headers;
        const text = Buffer.concat(chunks).toString();
        end(response.statusCode!, null, {
          response: { text, date, asksForLogin: login.test(challenge ?? '') },
        });
      });
    });
    let failure: NodeJS.ErrnoException | undefined;
    sent.on('error', (error) => (failure ??= error)); // `close` follows
    sent.on('close', () => {
      if (hasResponse) return;
      if (signal.aborted) reject(reasonOf(signal));
      else if (deadline.aborted) end(null, 'TIMEOUT');
      else
        end(null, errorCodeOf(failure?.code ?? '', isConnected), {
          obstacle: failure ? obstacleOf(target, failure) : null,
        });
    });
    sent.end(body);
  });
}

/** Classifies by Node's code; the rest by whether a connection was made. */
function errorCodeOf(code: string, isConnected: boolean): string {
  if (/^(ENOTFOUND|EAI_)/.test(code)) return 'DNS';
  if (/^(ERR_TLS_|ERR_SSL_|EPROTO$|UNABLE_TO_|HOSTNAME_MISMATCH$)|CERT|SELF_SIGNED/.test(code)) return 'TLS';
  if (/^(HPE_|ERR_HTTP_|ERR_INVALID_)/.test(code)) return 'PROTOCOL';
  return isConnected ? 'RESET' : 'CONNECT';
}

function obstacleOf({ host }: URL, error: NodeJS.ErrnoException): Obstacle | null {
  if (error.code === 'ECONNREFUSED')
    return { cause: 'NOTHING_LISTENS', message: `Nothing listens at ${host}: start your server.` };
  if (isPlainHttp(error))
    return {
      cause: 'NO_TLS',
      message: `The server at ${host} speaks http, not https: forward to http://${host}.`,
    };
  return null;
}

const reasonOf = ({ reason }: AbortSignal) => reason as Error;
