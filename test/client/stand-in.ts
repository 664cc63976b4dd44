import { expect } from '@jest/globals';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ParcelhookError } from '../../src/client/index.js';

export interface Call {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: http.IncomingHttpHeaders;
  body: unknown;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  data?: object;
  error?: { code: string; message?: string; details?: object[] };
  /** Instead of an envelope. */
  raw?: string;
}

/** `hang` leaves the request open, `reset` breaks the connection. */
export type Responder = (call: Call, response: http.ServerResponse) => Reply | 'hang' | 'reset';

export interface StandIn {
  url: string;
  calls: Call[];
  logins: Call[];
  /** The default is a new token for an hour. */
  login: Responder;
  respond: Responder;
  close(): void;
}

const envelope = { version: '1.0.0', timestamp: 1 };
export const credentials = { key: 'key-of-ana', email: 'ana@example.com', password: 'horse-battery-päss' };

export async function startStandIn(): Promise<StandIn> {
  const standIn: StandIn = { url: '', calls: [], logins: [], login, respond: () => ({ data: {} }), close };
  const server = http.createServer((request, response) => {
    void text(request).then((raw) => {
      const url = new URL(request.url!, 'http://host');
      const call: Call = {
        method: request.method!,
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body: raw === '' ? undefined : JSON.parse(raw),
      };
      const isLogin = call.path.endsWith('/v1/login');
      standIn[isLogin ? 'logins' : 'calls'].push(call);
      const reply = isLogin ? standIn.login(call, response) : standIn.respond(call, response);
      if (reply === 'reset') return request.socket.destroy();
      if (reply === 'hang' || response.headersSent) return;
      response.writeHead(reply.status ?? (reply.error ? 500 : 200), reply.headers);
      response.end(reply.raw ?? JSON.stringify(bodyOf(reply)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  standIn.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return standIn;

  function login(): Reply {
    return { data: { token: `token-${standIn.logins.length}`, expiresIn: '3600' } };
  }

  function close() {
    server.close();
    server.closeAllConnections();
  }
}

function bodyOf({ data, error }: Reply): object {
  if (!error) return { ...envelope, status: 'OK', data };
  const { code, message = 'No.', details } = error;
  return { ...envelope, status: code, error: { message, requestId: 'req-1', details } };
}

export const refused = (status: number, code: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  error: { code },
});

export function inSequence(...replies: (Reply | 'hang' | 'reset')[]): Responder {
  let next = 0;
  return () => replies[Math.min(next++, replies.length - 1)]!;
}

export async function failureOf(call: Promise<unknown>): Promise<ParcelhookError> {
  const outcome: unknown = await call.then(
    () => 'no failure',
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(ParcelhookError);
  return outcome as ParcelhookError;
}
