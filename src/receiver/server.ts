import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from '../client/index.js';

const maxBodyBytes = 1024 * 1024;

/** `problem` says why the signature is WRONG. */
export interface Received {
  webhookId: string | null;
  attempt: number | null;
  sequence: number | null;
  state: string | null;
  trackingId: string | null;
  signature: 'VERIFIED' | 'WRONG' | 'NOT_CHECKED';
  problem?: string;
  /** Parsed JSON, or the text if it is not JSON. */
  body: unknown;
}

export interface ReceiverOptions {
  /** 0 takes any free port. */
  port: number;
  httpStatus: number;
  delayMs: number;
  /** Called for each notification, so that secrets can be added later. Without any, nothing is checked. */
  secrets(): readonly string[];
  onNotification(notification: Received): void;
}

/** On 127.0.0.1. It accepts only POST, and responds 413 to a body over 1 MiB. */
export async function startReceiver(options: ReceiverOptions): Promise<{ port: number; close(): void }> {
  const server = http.createServer((request, response) => {
    const respond = (status: number, headers = {}) => response.writeHead(status, headers).end();
    if (request.method !== 'POST') return void respond(405, { Allow: 'POST' });
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    request.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= maxBodyBytes) chunks.push(chunk);
      else if (!response.headersSent) respond(413, { Connection: 'close' });
    });
    request.on('end', () => {
      if (sizeBytes > maxBodyBytes) return;
      options.onNotification(received(request.headers, Buffer.concat(chunks), options.secrets()));
      const timer = setTimeout(() => respond(options.httpStatus), options.delayMs);
      response.on('close', () => clearTimeout(timer));
    });
    request.on('error', () => {}); // the sender disconnected: no notification
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function received(headers: http.IncomingHttpHeaders, rawBody: Buffer, secrets: readonly string[]): Received {
  const body = parseBody(rawBody);
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const problem = secrets.length > 0 ? problemOf(headers, rawBody, secrets) : null;
  return {
    webhookId: text(headers['webhook-id']),
    attempt: ordinal(headers['parcelhook-attempt']),
    sequence: ordinal(headers['parcelhook-sequence']),
    state: text(fields.state),
    trackingId: text(fields.tracking_id),
    signature: secrets.length === 0 ? 'NOT_CHECKED' : problem === null ? 'VERIFIED' : 'WRONG',
    ...(problem !== null && { problem }),
    body,
  };
}

/** Null if the signature is valid. */
function problemOf(
  headers: http.IncomingHttpHeaders,
  rawBody: Buffer,
  secrets: readonly string[],
): string | null {
  try {
    verify(headers, rawBody, secrets);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const text = (value: unknown) => (typeof value === 'string' ? value : null);
const ordinal = (value: unknown) =>
  typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : null;

function parseBody(rawBody: Buffer): unknown {
  const body = rawBody.toString('utf8');
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
