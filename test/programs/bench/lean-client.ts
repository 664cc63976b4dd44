import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Minimal: on a shared machine a client's own CPU time distorts what it measures. */
export interface Client {
  /** Rejects without a response within a minute. */
  send(request: Buffer): Promise<Reply>;
  close(): void;
}

export interface Reply {
  status: number;
  body: string;
  /** The server closes the connection after it, as proxies do after some hundred. */
  isLast: boolean;
}

interface Connection {
  send(request: Buffer): Promise<Reply>;
  isOpen(): boolean;
  close(): void;
}

const responseTimeoutMs = 60_000;

export function createClient(url: string): Client {
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  const take = (): Connection => {
    for (let known = idle.pop(); known; known = idle.pop()) if (known.isOpen()) return known;
    const opened = openConnection(url, () => all.delete(opened));
    all.add(opened);
    return opened;
  };
  return {
    send: async (request) => {
      const connection = take();
      const reply = await connection.send(request);
      if (reply.isLast) connection.close();
      else idle.push(connection);
      return reply;
    },
    close: () => {
      for (const connection of all) connection.close();
    },
  };
}

function openConnection(url: string, onClosed: () => void): Connection {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.+)\]$/, '$1');
  const socket: Socket =
    protocol === 'https:'
      ? connectTls({ host, port: Number(port || 443), servername: isIP(host) ? '' : host })
      : connect({ host, port: Number(port || 80) });
  socket.setNoDelay();
  let waiting: { resolve(reply: Reply): void; reject(error: Error): void } | null = null;
  let data: Buffer = Buffer.alloc(0);

  const fail = (error: Error) => {
    waiting?.reject(error);
    waiting = null;
  };
  socket.setTimeout(responseTimeoutMs, () =>
    socket.destroy(new Error(`no response in ${responseTimeoutMs} ms`)),
  );
  socket.on('error', fail);
  socket.on('close', () => {
    fail(new Error('the connection was closed before the response'));
    onClosed();
  });
  socket.on('data', (chunk: Buffer) => {
    data = data.length > 0 ? Buffer.concat([data, chunk]) : chunk;
    const reply = parseReply(data);
    if (reply instanceof Error) socket.destroy(reply);
    if (reply === null || reply instanceof Error) return;
    data = Buffer.alloc(0);
    waiting?.resolve(reply);
    waiting = null;
  });
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(request);
      }),
    isOpen: () => socket.writable,
    close: () => socket.destroy(),
  };
}

function parseReply(data: Buffer): Reply | Error | null {
  const headEnd = data.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const head = data.toString('latin1', 0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) return new Error(`response without Content-Length: ${head.slice(0, 200)}`);
  const end = headEnd + 4 + Number(length);
  if (data.length < end) return null;
  return {
    status: Number(head.slice(9, 12)),
    body: data.toString('utf8', headEnd + 4, end),
    isLast: /\r\nconnection: *close/i.test(head),
  };
}

export function encodeRequest(
  url: string,
  method: 'GET' | 'POST',
  path: string,
  token: string,
  content?: unknown,
): Buffer {
  const body = content === undefined ? '' : JSON.stringify(content);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    `Authorization: Bearer ${token}`,
    ...(body ? ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`] : []),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
