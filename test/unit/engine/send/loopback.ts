import { afterEach } from '@jest/globals';
import type { Server } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { once } from 'node:events';
import { createSender, type Sender, type SenderOptions } from '../../../../src/engine/send/sender.js';
import { developmentPolicy, noDns } from '../../../support/ssrf-corpus.js';

type Listening = { url: string; port: number; connections: () => number };

function createLoopback() {
  const closers: (() => void)[] = [];

  async function listen(
    server: net.Server | Server,
    scheme = 'http',
    onPort = 0,
    address = '127.0.0.1',
  ): Promise<Listening> {
    const sockets = new Set<net.Socket>();
    let connections = 0;
    server.on('connection', (socket: net.Socket) => {
      connections++;
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    });
    server.listen(onPort, address);
    await once(server, 'listening');
    closers.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    const { port } = server.address() as net.AddressInfo;
    return { url: `${scheme}://${address}:${port}/hook`, port, connections: () => connections };
  }

  return {
    listen,
    /** Counts the bytes it can decrypt. */
    async secure(pair: { key: string; cert: string }, options: https.ServerOptions = {}) {
      let bytes = 0;
      const server = https.createServer({ ...pair, ...options }, (_, response) => response.end('OK'));
      server.on('secureConnection', (socket: TLSSocket) =>
        socket.on('data', (data: Buffer) => (bytes += data.length)),
      );
      return { ...(await listen(server, 'https')), server, bytes: () => bytes };
    },
    /** `respond` gets the first bytes of every request. */
    raw(respond: (socket: net.Socket, requestNumber: number, data: Buffer) => void): Promise<Listening> {
      let requests = 0;
      return listen(
        net.createServer((socket) => socket.on('data', (data) => respond(socket, ++requests, data))),
      );
    },
    closeAll(): void {
      for (const close of closers.splice(0)) close();
    },
  };
}

/** The receivers and senders of a test end with it. */
export const loopback = createLoopback();
const senders: Sender[] = [];

export function open(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({ policy: developmentPolicy, dns: noDns, ...options });
  senders.push(sender);
  return sender;
}

afterEach(() => {
  for (const sender of senders.splice(0)) sender.close();
  loopback.closeAll();
});
