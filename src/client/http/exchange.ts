import { ParcelhookError, type Detail, type ErrorCode } from '../errors.js';

export type Fetch = typeof globalThis.fetch;

/** Where requests go. Secrets are only in `key` and in request headers, never in an error. */
export interface Service {
  base: string;
  fetch: Fetch;
  userAgent: string;
  key?: string;
}

export interface Exchange {
  method: string;
  target: string;
  headers: Record<string, string>;
  body?: string | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

export interface Envelope {
  data: object;
  processId?: string;
}

type ResponseHead = Pick<Response, 'status' | 'headers'>;

const maxResponseBytes = 32 * 1024 * 1024;

/**
 * Sends one request and returns the envelope of its response. Throws ParcelhookError for anything but success, and the
 * signal's reason for an abort.
 */
export async function exchange(service: Service, request: Exchange): Promise<Envelope> {
  const { base, fetch, userAgent } = service;
  const { method, target, headers, body, timeoutMs, signal } = request;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const onAbort = () => stop.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(onAbort, timeoutMs);
  try {
    const response = await fetch(base + target, {
      method,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      redirect: 'manual', // another server must not get the credentials
      signal: stop.signal,
    });
    const text = await readText(response, base);
    if (!response.ok) throw parseFailure(base, response, text);
    return parseSuccess(base, response, text);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ParcelhookError) throw error;
    throw stop.signal.aborted ? timeoutError(base, timeoutMs) : unreachableError(base, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

async function readText(response: Response, base: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxResponseBytes) {
      throw new ParcelhookError(`The response from ${base} exceeds ${maxResponseBytes} bytes.`, {
        code: 'UNEXPECTED_ANSWER',
        status: response.status,
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parseSuccess(base: string, head: ResponseHead, text: string): Envelope {
  const body = parseJson(text) as Partial<Envelope> | null;
  const { data } = body ?? {};
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return body as Envelope;
  throw unexpectedResponse(base, head);
}

function parseFailure(base: string, head: ResponseHead, text: string): ParcelhookError {
  const body = parseJson(text) as { status?: unknown; error?: Record<string, unknown> } | null;
  const { message, requestId, details } = body?.error ?? {};
  if (typeof body?.status !== 'string' || typeof message !== 'string') return unexpectedResponse(base, head);
  const named = Array.isArray(details) ? details.filter(isDetail) : [];
  return new ParcelhookError(withFirst(message, named), {
    code: body.status as ErrorCode,
    status: head.status,
    requestId: typeof requestId === 'string' ? requestId : null,
    details: named,
    retryAfterMs: retryAfterMs(head),
  });
}

/** The message with the first of its details: `The request is not valid: package.weight is required (and 2 more).` */
function withFirst(message: string, [first, ...more]: Detail[]): string {
  if (!first) return message;
  const others = more.length > 0 ? ` (and ${more.length} more)` : '';
  const text = `${message.replace(/(; see details)?\.$/, '')}: ${first.path} ${first.message}${others}`;
  return /[.?]$/.test(text) ? text : `${text}.`;
}

const isDetail = (value: unknown): value is Detail =>
  typeof (value as Detail | null)?.path === 'string' && typeof (value as Detail).message === 'string';

/** `Retry-After` is a number of seconds, or a date. */
function retryAfterMs({ headers }: ResponseHead): number | null {
  const text = headers.get('retry-after') ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const unexpectedResponse = (base: string, head: ResponseHead) =>
  new ParcelhookError(`${base} returned ${head.status}, but not in Parcelhook's format.`, {
    code: 'UNEXPECTED_ANSWER',
    status: head.status,
    requestId: head.headers.get('x-request-id'),
    retryAfterMs: retryAfterMs(head),
  });

export const timeoutError = (base: string, timeoutMs: number) =>
  new ParcelhookError(`${base} did not respond within ${timeoutMs / 1_000} s.`, { code: 'TIMEOUT' });

/** OpenSSL's words for a server that responds to its greeting without TLS. */
export const isPlainHttp = ({ code = '', message = '' }: { code?: string | undefined; message?: string }) =>
  /wrong.version.number|packet.length.too.long/i.test(`${code} ${message}`);

/** Shows only the code of a `fetch` error: its message may have the URL, and the URL the key. */
function unreachableError(base: string, error: unknown): ParcelhookError {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  const isCode = (one: unknown) => typeof one === 'string' && /^[A-Z][A-Z0-9_]+$/.test(one);
  const known = [cause?.code, code].find(isCode) as string | undefined;
  if (base.startsWith('https:') && isPlainHttp({ code: known }))
    return new ParcelhookError(`${base} speaks http, not https: use http://.`, { code: 'UNEXPECTED_ANSWER' });
  return new ParcelhookError(`${base} cannot be reached (${known ?? 'no connection'}).`, {
    code: 'UNREACHABLE',
  });
}
