import { ParcelhookError } from '../errors.js';
import { failureOf, successOf, type Envelope } from './answer.js';

export type Fetch = typeof globalThis.fetch;

/** Where requests go. What is secret is in `key` and in each request's headers, and in no error. */
export interface Service {
  /** Origin and path before `/v1`, as errors show it. */
  base: string;
  fetch: Fetch;
  userAgent: string;
  /** Goes into every request's query. */
  key?: string;
}

export interface Exchange {
  method: string;
  /** As it stands in the URL, with its query. */
  target: string;
  headers: Record<string, string>;
  /** JSON. */
  body?: string | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

const maxAnswerBytes = 32 * 1024 * 1024;

/** One request and its answer's envelope; anything but success is a ParcelhookError, an abort the signal's reason. */
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
      redirect: 'manual', // credentials go nowhere else
      signal: stop.signal,
    });
    const text = await textOf(response, base);
    return response.ok ? successOf(base, response, text) : throwing(failureOf(base, response, text));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ParcelhookError) throw error;
    throw stop.signal.aborted ? timedOut(base, timeoutMs) : unreachable(base, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

export const timedOut = (base: string, timeoutMs: number) =>
  new ParcelhookError(`${base} did not answer within ${timeoutMs / 1_000} s.`, { code: 'TIMEOUT' });

function throwing(error: Error): never {
  throw error;
}

async function textOf(response: Response, base: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxAnswerBytes) {
      throw new ParcelhookError(`${base} answered more than ${maxAnswerBytes} bytes.`, {
        code: 'UNEXPECTED_ANSWER',
        status: response.status,
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Of what `fetch` says only the code is told: its words may hold the URL, and the URL the key. */
function unreachable(base: string, error: unknown): ParcelhookError {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  const isCode = (one: unknown) => typeof one === 'string' && /^[A-Z][A-Z0-9_]+$/.test(one);
  const known = [cause?.code, code].find(isCode) as string | undefined;
  return new ParcelhookError(`${base} cannot be reached (${known ?? 'no connection'}).`, {
    code: 'UNREACHABLE',
  });
}
