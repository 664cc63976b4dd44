import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';

export interface FixedBody {
  type: string;
  body: Buffer;
  /** Default: made here. */
  gzip?: Buffer;
  brotli?: Buffer;
  headers: Record<string, string>;
}

/**
 * Sends an unchanging body, compressed as well as the caller accepts; browsers name gzip first. All responses share one
 * buffer per encoding; express responds 304 if the caller has the body already.
 */
export function fixedBody({ type, body, gzip = gzipSync(body), brotli, headers }: FixedBody) {
  const encoded = { ...(brotli && { br: brotli }), gzip };
  const etag = `W/"${createHash('sha256').update(body).digest('base64url')}"`; // weak: the same for each encoding
  return (request: Request, response: Response): void => {
    const accepted = request.acceptsEncodings();
    const [encoding, smaller] = Object.entries(encoded).find(([name]) => accepted.includes(name)) ?? [];
    if (encoding !== undefined) response.set('Content-Encoding', encoding);
    response
      .set({ ...headers, ETag: etag })
      .vary('Accept-Encoding')
      .type(type)
      .send(smaller ?? body);
  };
}
