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
/** From Node 24 on sockets can share a port; Linux spreads connections over them. */
export const canSharePort = process.platform === 'linux' && Number(process.versions.node.split('.')[0]) >= 24;

/**
 * Has the server listen, by several sockets of one port where it can: each takes one connection in a turn of the event
 * loop (libuv, from 1.46), so that a client connecting while turns are long waits for fewer of them. Rejects where the
 * port is taken, as `listen` does.
 */
export async function openDoors(server: HttpServer, address: Address): Promise<Doors> {
  if (!canSharePort) return doorsOf([await listenOn(server, address)]);
  if (address.port !== 0) await expectFree(address);
  // Without SO_REUSEPORT, one socket will do.
  const first = await listenOn(server, { ...address, reusePort: true }).catch(() =>
    listenOn(server, address),
  );
  const { address: host, port } = first.address() as AddressInfo;
  const others = await Promise.allSettled(
    // The same socket options as Node's http.Server.
    Array.from({ length: count - 1 }, () =>
      listenOn(
        createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket)),
        { host, port, reusePort: true },
      ),
    ),
  );
  return doorsOf([first, ...others.flatMap((other) => (other.status === 'fulfilled' ? other.value : []))]);
}

const doorsOf = (servers: Server[]): Doors => ({
  port: (servers[0]!.address() as AddressInfo).port,
  close: async () => {
    await Promise.all(servers.map(closeServer));
  },
});

/**
 * Without this check another process that shares its port would share it with this one, and get some of the
 * connections.
 */
async function expectFree(address: Address): Promise<void> {
  await closeServer(await listenOn(createServer(), address));
}

const listenOn = (server: Server, options: Address & { reusePort?: boolean }): Promise<Server> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve(server);
    });
  });

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => server.close(() => resolve()));
