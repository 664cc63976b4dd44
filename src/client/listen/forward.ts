import http from 'node:http';
import https from 'node:https';

/** What became of a notification at the local server. */
export interface Forwarded {
  ok: boolean;
  statusCode: number | null;
  /** Why there was no answer, in the words of the delivery log: `DNS`, `CONNECT`, `TLS`, `RESET`, `PROTOCOL`, `TIMEOUT`. */
  errorCode: string | null;
  durationMs: number;
}

export interface ForwardOptions {
  /** For the whole exchange. */
  timeoutMs: number;
  signal: AbortSignal;
}

const maxReadBytes = 64 * 1_024;

/** Posts once, as a webhook is called: a redirect is not followed, a failure is a value. Rejects only by its signal. */
export function forward(
  target: URL,
  headers: Record<string, string>,
  body: string,
  { timeoutMs, signal }: ForwardOptions,
): Promise<Forwarded> {
  const startedAt = performance.now();
  const deadline = AbortSignal.timeout(timeoutMs);
  const { request } = target.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const end = (statusCode: number | null, errorCode: string | null) =>
      resolve({
        ok: statusCode !== null && statusCode >= 200 && statusCode < 300,
        statusCode,
        errorCode,
        durationMs: Math.round(performance.now() - startedAt),
      });
    // A connection of its own: one that was kept may be closed by the server just when it is used again.
    const sent = request(target, {
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      signal: AbortSignal.any([signal, deadline]),
    });
    let isConnected = false;
    sent.on('socket', (socket) => socket.once('connect', () => (isConnected = true)));
    let isAnswered = false;
    sent.on('response', (response) => {
      isAnswered = true;
      let readBytes = 0;
      response.on('data', (chunk: Buffer) => {
        readBytes += chunk.length;
        if (readBytes > maxReadBytes) response.destroy();
      });
      response.on('error', () => undefined); // the status line has decided
      response.on('close', () =>
        signal.aborted ? reject(reasonOf(signal)) : end(response.statusCode!, null),
      );
    });
    let failure: NodeJS.ErrnoException | undefined;
    sent.on('error', (error) => (failure ??= error)); // it closes, too
    sent.on('close', () => {
      if (isAnswered) return;
      if (signal.aborted) reject(reasonOf(signal));
      else end(null, deadline.aborted ? 'TIMEOUT' : failureOf(failure?.code ?? '', isConnected));
    });
    sent.end(body);
  });
}

/** What Node's code says; the rest is told by how far it came. */
function failureOf(code: string, isConnected: boolean): string {
  if (/^(ENOTFOUND|EAI_)/.test(code)) return 'DNS';
  if (/^(ERR_TLS_|ERR_SSL_|EPROTO$|UNABLE_TO_|HOSTNAME_MISMATCH$)|CERT|SELF_SIGNED/.test(code)) return 'TLS';
  if (/^(HPE_|ERR_HTTP_|ERR_INVALID_)/.test(code)) return 'PROTOCOL';
  return isConnected ? 'RESET' : 'CONNECT';
}

const reasonOf = ({ reason }: AbortSignal) => reason as Error;
