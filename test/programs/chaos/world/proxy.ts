/**
 * A TCP proxy in its own process that simulates network faults on every connection. `argv`: the target port, on
 * 127.0.0.1. The parent sets the weather over IPC, and gets the port.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Weather {
  latencyMs: number;
  /** Share of the packets with which a connection is reset. */
  resetShare: number;
  /** New connections are accepted, and nothing passes through them. */
  swallowsNew: boolean;
  targetPort: number;
}

/** `swallowOpen`: from now on nothing passes through open connections, without notice to either side. */
export type Order = Partial<Weather> & { swallowOpen?: boolean };

interface Pair {
  isDark: boolean;
}

/** The time a server's own keepalive needs to detect a lost client. */
const heldMs = 30_000;
const weather: Weather = {
  latencyMs: 0,
  resetShare: 0,
  swallowsNew: false,
  targetPort: Number(process.argv[2]),
};
const pairs = new Set<Pair>();

function pass(pair: Pair, from: Socket, to: Socket, latencyMs: () => number): void {
  let last = Promise.resolve();
  let dueAt = 0;
  /** Works in order of arrival, even if the latency changes in between. */
  const later = (work: () => void) => {
    if (latencyMs() > 0) dueAt = performance.now() + latencyMs();
    const at = dueAt;
    last = last.then(async () => {
      if (at > performance.now()) await sleep(at - performance.now());
      if (!pair.isDark) work();
    });
  };
  from.on('data', (chunk: Buffer) => {
    if (pair.isDark) return;
    if (Math.random() < weather.resetShare) {
      from.resetAndDestroy();
      to.resetAndDestroy();
    } else later(() => to.write(chunk));
  });
  from.on('end', () => later(() => to.end()));
  from.on('close', () => {
    if (pair.isDark) return void setTimeout(() => to.destroy(), heldMs).unref();
    later(() => to.destroy());
  });
  from.on('error', () => undefined); // 'close' follows
}

const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
  const pair: Pair = { isDark: weather.swallowsNew };
  pairs.add(pair);
  client.once('close', () => pairs.delete(pair));
  const upstream = connect({
    port: weather.targetPort,
    host: '127.0.0.1',
    noDelay: true,
    allowHalfOpen: true,
  });
  pass(pair, client, upstream, () => 0);
  pass(pair, upstream, client, () => weather.latencyMs);
});

process.on('message', ({ swallowOpen, ...change }: Order) => {
  Object.assign(weather, change);
  if (swallowOpen) for (const pair of pairs) pair.isDark = true;
  process.send?.('done');
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
