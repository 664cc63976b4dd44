import http from 'node:http';
import { isIPv6 } from 'node:net';
import type { LookupAddress } from 'node:dns';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Requester } from './dns/resolver.js';
import type { Progress } from './phases.js';

export type AttemptOptions = http.RequestOptions & {
  servername: string;
  requester: Requester;
  progress: Progress;
};

/** An HTTP proxy that accepts CONNECT (RFC 9110, 9.3.6). */
export interface Proxy {
  host: string;
  port: number;
  /** Value of Proxy-Authorization. */
  credentials: string | null;
}

/** `http://user:password@host:port` */
export function proxyOf(text: string): Proxy {
  const { hostname, port, username, password } = new URL(text);
  const userPass = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 80),
    credentials: username === '' ? null : `Basic ${Buffer.from(userPass).toString('base64')}`,
  };
}

/** Whether an http URL is valid as a proxy: the URL parser accepts credentials that cannot be decoded. */
export function isProxyUrl(text: string): boolean {
  try {
    return proxyOf(text).host !== '';
  } catch {
    return false;
  }
}

/** The receiver's address for each connection: Node knows only the proxy's. */
const receivers = new WeakMap<Duplex, string>();

/** The address that a tunnel was opened to; undefined for any other connection. */
export const receiverBehind = (socket: Duplex): string | undefined => receivers.get(socket);

/**
 * Makes an agent's connections tunnels through a proxy. The proxy gets the address that was resolved and checked, never
 * the name: an address that the proxy resolves would be unchecked. If it cannot reach one address, the next is tried.
 */
export function throughTunnels<Agent extends http.Agent>(
  agent: Agent,
  proxy: Proxy,
  addressesOf: (target: AttemptOptions) => Promise<LookupAddress[]>,
  wrap: (target: AttemptOptions, socket: Duplex) => Duplex,
): Agent {
  agent.createConnection = (options, callback) => {
    const target = options as AttemptOptions;
    const { progress } = target;
    const connect = async () => {
      progress.begin();
      const tunnel = await openOne(proxy, await addressesOf(target), target);
      progress.ended('connect');
      const socket = wrap(target, tunnel);
      receivers.set(socket, progress.remoteAddress!);
      if (socket instanceof TLSSocket) socket.once('secureConnect', () => progress.ended('tls'));
      return socket;
    };
    connect().then(
      (socket) => callback?.(null, socket),
      // Node ignores the socket if there is an error; its type does not say so.
      (error: Error) => callback?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  };
  return agent;
}

async function openOne(proxy: Proxy, addresses: LookupAddress[], target: AttemptOptions): Promise<Duplex> {
  let failure: unknown = proxyRefused('no address to connect to, or no time left');
  for (const { address } of addresses) {
    const leftMs = target.requester.deadlineAtMs - performance.now();
    if (leftMs <= 0) break;
    target.progress.remoteAddress = address;
    try {
      return await openTunnel(proxy, authority(address, Number(target.port)), leftMs);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

const openTunnel = (proxy: Proxy, path: string, timeoutMs: number): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const connect = http.request({
      host: proxy.host,
      port: proxy.port,
      method: 'CONNECT',
      path,
      headers: { host: path, ...(proxy.credentials && { 'proxy-authorization': proxy.credentials }) },
      agent: false,
    });
    const giveUp = () => connect.destroy(proxyRefused('the egress proxy did not respond in time'));
    const timer = setTimeout(giveUp, timeoutMs);
    connect.once('connect', (response, socket) => {
      clearTimeout(timer);
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(proxyRefused(`the egress proxy responded to CONNECT with ${response.statusCode}`));
    });
    connect.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    connect.end();
  });

function proxyRefused(message: string): Error {
  return Object.assign(new Error(message), { code: 'PROXY_REFUSED' });
}

function authority(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
