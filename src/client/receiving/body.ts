import type { IncomingMessage } from 'node:http';

export interface BodyLimits {
  maxBodyBytes: number;
  bodyTimeoutMs: number;
}

export type BodyOutcome =
  | Buffer
  | 'CONSUMED'
  | 'TOO_LARGE'
  | 'TOO_SLOW'
  | /** The sender has gone: nobody waits for a response. */ 'GONE';

/** The bytes of the body as they arrived, be it from the request or from express.raw(). */
export function readBody(
  request: IncomingMessage & { body?: unknown },
  { maxBodyBytes, bodyTimeoutMs }: BodyLimits,
): Promise<BodyOutcome> {
  if (request.body instanceof Uint8Array) return Promise.resolve(Buffer.from(request.body));
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
