import type { IncomingMessage, ServerResponse } from 'node:http';
import { bytesOf, type RawBody } from './signed-request.js';
import {
  createHandler,
  headersOf,
  type BodyLimits,
  type BodyOutcome,
  type ReceiverOptions,
  type Reconciling,
} from './receiving/handler.js';
import { verify } from './signature.js';

/** A handler for express, and for `http.createServer`. It never rejects. */
export interface ReceiverHandler extends Reconciling {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/**
 * A request handler for notifications: it verifies, handles each event once and a shipment's in order, and responds. It
 * reads the body itself, at most `maxBodyBytes` (1 MiB) within `bodyTimeoutMs` (10 s), unless `request.rawBody` has it,
 * or `request.body` as bytes or text: express.raw(), Cloud Functions, Firebase and NestJS. No other body parser may come
 * before it. Throws TypeError for a missing option.
 */
export function receiver<Transaction = undefined>(options: ReceiverOptions<Transaction>): ReceiverHandler {
  const { respondTo, reconcile } = createHandler(options, verify);
  const handler = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, headers } = request;
    const outcome = await respondTo({ method, headers, readBody: (limits) => readBody(request, limits) });
    if (!outcome || response.headersSent || response.destroyed) return;
    const [status, text] = outcome;
    // The rest of such a body is not awaited.
    if (status === 413 || status === 408) response.setHeader('connection', 'close');
    response.writeHead(status, headersOf(outcome)).end(text);
  };
  return Object.assign(handler, { reconcile });
}

const isRaw = (body: unknown): body is RawBody =>
  typeof body === 'string' || ArrayBuffer.isView(body) || body instanceof ArrayBuffer;

/** The bytes of the body as they arrived, be it from the request or from what has read it before. */
function readBody(
  request: IncomingMessage & { body?: unknown; rawBody?: unknown },
  { maxBodyBytes, bodyTimeoutMs }: BodyLimits,
): Promise<BodyOutcome> {
  const read = [request.rawBody, request.body].find(isRaw);
  if (read !== undefined) return Promise.resolve(bytesOf(read));
  if (request.readableDidRead || request.readableEnded) return Promise.resolve('CONSUMED');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const end = (outcome: BodyOutcome) => {
      clearTimeout(timer);
      request.off('data', onData).resume();
      resolve(outcome);
    };
    const timer = setTimeout(() => end('TOO_SLOW'), bodyTimeoutMs);
    const onData = (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBodyBytes) end('TOO_LARGE');
      else chunks.push(chunk);
    };
    request
      .on('data', onData)
      .on('end', () => end(Buffer.concat(chunks)))
      .on('error', () => end('GONE'))
      .on('close', () => end('GONE'));
  });
}
