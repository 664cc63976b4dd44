import { Agent, request as httpRequest } from 'node:http';
import type { ApiResponse } from '../../support/client.js';
import type { Draft } from './requests.js';
import { settle } from './values.js';

export interface Prepared {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
}

/** The proofs by security scheme. */
export type Proofs = Record<string, { headers?: Record<string, string>; query?: [string, string] }>;

export function prepare(
  draft: Draft,
  proofs: Proofs,
  lookUp: (name: string, pick: number) => unknown,
): Prepared {
  const own = Object.keys(draft.security).map((scheme) => proofs[scheme] ?? {});
  const query = [
    ...own.flatMap((proof) => (proof.query ? [proof.query] : [])),
    ...(settle(draft.query, lookUp) as [string, unknown][]),
  ];
  const inPath = settle(draft.inPath, lookUp) as Record<string, unknown>;
  const path = draft.path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(inPath[name]) || '-');
  const search = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
  const body = bodyOf(draft, lookUp);
  return {
    method: draft.method,
    path: search ? `${path}?${search}` : path,
    headers: {
      ...Object.assign({}, ...own.map(({ headers = {} }) => headers)),
      ...(body && draft.type && { 'content-type': draft.type }),
      ...draft.headers,
    },
    ...(body && { body }),
  };
}

const encoded = (value: unknown): string =>
  encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed());

function bodyOf(draft: Draft, lookUp: (name: string, pick: number) => unknown): Buffer | undefined {
  if (!('body' in draft) && !draft.bytes) return undefined;
  const body = settle(draft.body, lookUp);
  const isForm = draft.type === 'application/x-www-form-urlencoded' && !draft.bytes;
  const text = isForm
    ? Object.entries(Object(body) as object)
        .map((field) => field.map(encoded).join('='))
        .join('&')
    : (JSON.stringify(body) ?? '');
  return draft.bytes ? draft.bytes(text) : Buffer.from(text);
}

const agent = new Agent({ keepAlive: true, maxSockets: 50 });
const longestMs = 20_000;

/** Unchanged, without a client library that would correct it. */
export function send(url: string, { method, path, headers, body }: Prepared): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const length = body ? { 'content-length': String(body.length) } : {};
    const options = {
      agent,
      hostname,
      port,
      method,
      path,
      headers: { ...headers, ...length },
      timeout: longestMs,
    };
    const sent = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const given = Object.entries(response.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]);
        const text = Buffer.concat(chunks).toString();
        const isJson = response.headers['content-type']?.startsWith('application/json') && text !== '';
        const parsed = (isJson ? JSON.parse(text) : { text }) as ApiResponse['body'];
        resolve({
          httpStatus: response.statusCode!,
          headers: new Headers(given),
          body: parsed,
          data: parsed.data,
        });
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(`no response within ${longestMs} ms`)));
    sent.on('error', reject);
    sent.end(body);
  });
}
