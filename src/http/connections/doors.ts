import type { Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';

export interface Address {
  port: number;
  /** Undefined: all interfaces. */
  host: string | undefined;
}

export interface Doors {
  port: number;
  /** Takes no new connection; resolves when those that are there have ended. */
  close(): Promise<void>;
}

const count = 8;
/** Node lets sockets share a port from 23.1 on, where the kernel spreads connections over them. */
export const canSharePort = process.platform === 'linux' && Number(process.versions.node.split('.')[0]) >= 24;

/**
 * Has the server listen, by several sockets of one port where Node can: each takes one connection in a turn of the event
 * loop (libuv, from 1.46), so that who comes while turns are long waits for fewer of them. Rejects where the port is
 * taken, as `listen` does.
 */
export async function openDoors(server: HttpServer, address: Address): Promise<Doors> {
  if (!canSharePort) return doorsOf([await opened(server, address)]);
  if (address.port !== 0) await notTaken(address);
  const first = await opened(server, { ...address, reusePort: true });
  const shared = { host: address.host, port: portOf(first), reusePort: true };
  const others = Array.from({ length: count - 1 }, () =>
    // As Node's own HTTP server takes them.
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket)),
  );
  return doorsOf([first, ...(await Promise.all(others.map((other) => opened(other, shared))))]);
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const doorsOf = (servers: Server[]): Doors => ({
  port: portOf(servers[0]!),
  close: async () => {
    await Promise.all(servers.map(closed));
  },
});

/** A port that is to be shared could be shared with another process, too, which would get a part of the connections. */
async function notTaken(address: Address): Promise<void> {
  await closed(await opened(createServer(), address));
}

const opened = (server: Server, options: Address & { reusePort?: boolean }): Promise<Server> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve(server);
    });
  });

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
