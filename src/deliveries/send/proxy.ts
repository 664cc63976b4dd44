import http from 'node:http';
import { isIPv6 } from 'node:net';
import type { LookupAddress } from 'node:dns';
import type { Duplex } from 'node:stream';
import type { Asker } from './names/names.js';

/** What an agent is told of a connection that it is to make. */
export type AttemptOptions = http.RequestOptions & { asker: Asker };

/** An http proxy that takes CONNECT (RFC 9110, 9.3.6). */
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

/** Whether an http URL can be taken for one: the parser of URLs lets through what cannot be decoded. */
export function isProxyUrl(text: string): boolean {
  try {
    return proxyOf(text).host !== '';
  } catch {
    return false;
  }
}

/** More addresses of one name than a receiver has for its availability. */
const maxAddresses = 4;

/**
 * Makes an agent's connections tunnels through a proxy. It is told the address, which was resolved and checked here,
 * and never the name: what it would resolve itself nobody had checked. An address to which it has no way is followed by
 * the next one.
 */
export function throughTunnels<Agent extends http.Agent>(
  agent: Agent,
  proxy: Proxy,
  addressesOf: (target: AttemptOptions) => Promise<LookupAddress[]>,
  wrap: (target: AttemptOptions, socket: Duplex) => Duplex,
): Agent {
  agent.createConnection = (options, callback) => {
    const target = options as AttemptOptions;
    const connect = async () => {
      const addresses = await addressesOf(target);
      return wrap(target, await openOne(proxy, addresses.slice(0, maxAddresses), target));
    };
    connect().then(
      (socket) => callback?.(null, socket),
      // Node reads the socket only where there is no error, which its type cannot say.
      (error: Error) => callback?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  };
  return agent;
}

async function openOne(proxy: Proxy, addresses: LookupAddress[], target: AttemptOptions): Promise<Duplex> {
  let failure: unknown = proxyRefused('there is no address to connect to');
  for (const { address } of addresses) {
    const leftMs = target.asker.deadlineAtMs - performance.now();
    if (leftMs <= 0) break;
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
    const silent = () => connect.destroy(proxyRefused('the egress proxy does not answer'));
    const timer = setTimeout(silent, timeoutMs);
    connect.once('connect', (response, socket) => {
      clearTimeout(timer);
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(proxyRefused(`the egress proxy answered CONNECT with ${response.statusCode}`));
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
