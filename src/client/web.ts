/** The entry for browsers and edges: Web Crypto, `Request` and `Response`, no module of Node. */
import type { Notice, Notification } from './api/types.js';
import { digestOf } from './diagnosis/match.js';
import type { RequestHeaders } from './request-headers.js';
import {
  createHandler,
  headersOf,
  type BodyLimits,
  type BodyOutcome,
  type ReceiverOptions,
  type Reconciling,
} from './receiving/handler.js';
import {
  bytesOf,
  contentOf,
  secretsOf,
  signedParts,
  type RawBody,
  type VerifyOptions,
} from './signed-request.js';

export type * from './api/types.js';
export { diagnose, parseHeaders, type Diagnosis, type DiagnosisInput, type Finding } from './diagnose.js';
export { ParcelhookError, type Detail, type ErrorCode } from './errors.js';
export type { NotificationContext, ReceiverOptions } from './receiving/handler.js';
export { memoryStore, type Memory, type ReceivedEvent, type ReceiverStore } from './receiving/store.js';
export type { RequestHeaders } from './request-headers.js';
export type { RawBody, VerifyOptions } from './signed-request.js';

/**
 * Does as `verify` of the main entry, but returns a promise, which rejects with a ParcelhookError, `INVALID_SIGNATURE`.
 */
export async function verify(
  headers: RequestHeaders,
  rawBody: RawBody,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<Notification | Notice> {
  const { id, timestamp, given } = signedParts(headers, options);
  const body = bytesOf(rawBody);
  const expected = await Promise.all(
    secretsOf(secret).map(
      async (each) => `v1,${await digestOf({ key: keyOf(each), prefix: `${id}.${timestamp}.`, body })}`,
    ),
  );
  return contentOf(
    body,
    expected.some((one) => given.some((other) => isSame(one, other))),
  );
}

/** Reads Base64 as Node does: both alphabets, with or without padding, anything else left out. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const [text = ''] = secret
    .replace(/^whsec_/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .split('=');
  const digits = text.replace(/[^A-Za-z0-9+/]/g, '');
  const key = Uint8Array.from(atob(digits.length % 4 === 1 ? digits.slice(0, -1) : digits), (character) =>
    character.charCodeAt(0),
  );
  // Anyone could sign with an empty key.
  if (key.length === 0) throw new TypeError('A webhook secret is missing or empty.');
  return key;
}

/** Compares in a time that does not depend on where the texts differ. */
function isSame(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at += 1) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

/** `export default { fetch: handler }`, a route of Next.js, Hono, Deno or Bun. It never rejects. */
export interface WebReceiver extends Reconciling {
  (request: Request): Promise<Response>;
}

/** Does as `receiver` of the main entry, from a `Request` to a `Response`. Throws TypeError for a missing option. */
export function receiver<Transaction = undefined>(options: ReceiverOptions<Transaction>): WebReceiver {
  const { respondTo, reconcile } = createHandler(options, verify);
  const handler = async (request: Request): Promise<Response> => {
    const { method, headers } = request;
    const outcome = await respondTo({ method, headers, readBody: (limits) => readBody(request, limits) });
    if (!outcome) return new Response(null, { status: 400 }); // nobody waits for it
    return new Response(outcome[1] || null, { status: outcome[0], headers: headersOf(outcome) });
  };
  return Object.assign(handler, { reconcile });
}

async function readBody(request: Request, { maxBodyBytes, bodyTimeoutMs }: BodyLimits): Promise<BodyOutcome> {
  if (request.bodyUsed) return 'CONSUMED';
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooSlow = new Promise<'TOO_SLOW'>((resolve) => {
    timer = setTimeout(() => resolve('TOO_SLOW'), bodyTimeoutMs);
  });
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    for (;;) {
      const part = await Promise.race([reader.read(), tooSlow]);
      if (part === 'TOO_SLOW') return end(reader, part);
      if (part.done) return joined(chunks, sizeBytes);
      const chunk = part.value as Uint8Array;
      sizeBytes += chunk.length;
      if (sizeBytes > maxBodyBytes) return end(reader, 'TOO_LARGE');
      chunks.push(chunk);
    }
  } catch {
    return 'GONE';
  } finally {
    clearTimeout(timer);
  }
}

function end(reader: { cancel(): Promise<void> }, outcome: BodyOutcome): BodyOutcome {
  reader.cancel().catch(() => undefined);
  return outcome;
}

function joined(chunks: Uint8Array[], sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
