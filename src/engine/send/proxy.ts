import http from 'node:http';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { coded } from './destination.js';
import type { Opening } from './race.js';

const gatewayTimeout = 504;

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

/**
 * The proxy gets the address that was resolved and checked, never the name: an address that the proxy resolves would be
 * unchecked. Whatever fails between us and the proxy is no connection, and no fault of the receiver's name or response.
 */
export function openTunnel(proxy: Proxy, address: string, port: number): Opening {
  const path = isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
  const connect = http.request({
    host: proxy.host,
    port: proxy.port,
    method: 'CONNECT',
    path,
    headers: { host: path, ...(proxy.credentials && { 'proxy-authorization': proxy.credentials }) },
    agent: false,
  });
  const opened = new Promise<Duplex>((resolve, reject) => {
    connect.once('connect', ({ statusCode = 0 }, socket, head) => {
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head); // the receiver spoke first
        return resolve(socket);
      }
      socket.destroy();
      const message = `the egress proxy responded to CONNECT with ${statusCode}`;
      reject(coded(statusCode === gatewayTimeout ? 'ETIMEDOUT' : 'PROXY_REFUSED', message));
    });
    connect.on('error', (error) => reject(coded('PROXY_REFUSED', `no egress proxy: ${error.message}`)));
    connect.end();
  });
  return { opened, abandon: () => void connect.destroy() };
}
