import type { Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';

export interface Address {
  port: number;
  /** Undefined: all interfaces. */
  host: string | undefined;
}

export interface SharedListener {
  port: number;
  /** Accepts no new connections; resolves when the open ones have ended. */
  close(): Promise<void>;
}

const sockets = 8;
/** From Node 24, sockets can share a port; Linux spreads connections over them. */
export const canSharePort = process.platform === 'linux' && Number(process.versions.node.split('.')[0]) >= 24;

/**
 * Makes the server listen, on several sockets of one port if the platform allows: each accepts one connection per
 * event-loop tick (libuv, from 1.46), so that a client connecting while ticks are long waits for fewer of them. Rejects
 * if the port is taken, as `listen` does.
 */
export async function listenShared(server: HttpServer, address: Address): Promise<SharedListener> {
  if (!canSharePort) return sharedListener([await listenOn(server, address)]);
  if (address.port !== 0) await expectFree(address);
  // Fails on a system without SO_REUSEPORT, which gets one socket.
  const first = await listenOn(server, { ...address, reusePort: true }).catch(() =>
    listenOn(server, address),
  );
  const { address: host, port } = first.address() as AddressInfo;
  const others = await Promise.allSettled(
    // The same socket options as Node's http.Server.
    Array.from({ length: sockets - 1 }, () =>
      listenOn(
        createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket)),
        { host, port, reusePort: true },
      ),
    ),
  );
  return sharedListener([
    first,
    ...others.flatMap((other) => (other.status === 'fulfilled' ? other.value : [])),
  ]);
}

const sharedListener = (servers: Server[]): SharedListener => ({
  port: (servers[0]!.address() as AddressInfo).port,
  close: async () => {
    await Promise.all(servers.map(closeServer));
  },
});

/** Without this check, another process with SO_REUSEPORT would share the port and get some of the connections. */
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
