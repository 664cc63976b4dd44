import type { LookupAddress } from 'node:dns';
import http from 'node:http';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { coded, isDenial } from './destination.js';
import type { Answer } from './dns/resolver.js';

/** A connection that is being made. */
export interface Opening {
  /** Rejects if it is abandoned. */
  opened: Promise<Duplex>;
  abandon(): void;
}

/** The next address is tried beside those that have not connected after that time (RFC 8305, 5). */
const nextAddressAfterMs = 500;
/** No receiver needs more addresses to be available. */
const maxAddresses = 4;
/** Addresses of one family that are tried while the other one may still come. */
const maxAddressesOfHalf = 2;

/** Each ends a race that is under way. */
export type Races = Set<() => void>;

/**
 * Connects to the first of a name's addresses that responds. Those that the name servers tell later
 * take part. Rejects with the last failure, or with a time-out at the deadline.
 */
export function race(
  answer: Answer,
  deadlineAtMs: number,
  open: (address: string) => Opening,
  races: Races,
): Promise<{ socket: Duplex; address: string }> {
  return new Promise((resolve, reject) => {
    let untried: LookupAddress[] = [];
    let isMoreAwaited = false;
    let lastFamily = 0;
    const tried = new Set<string>();
    const underWay = new Set<Opening>();
    let failure: Error | undefined;
    let isOver = false;
    let nextTimer: NodeJS.Timeout | null = null;

    const end = (settle: () => void) => {
      if (isOver) return;
      isOver = true;
      races.delete(stop);
      clearTimeout(deadline);
      if (nextTimer) clearTimeout(nextTimer);
      for (const opening of underWay) opening.abandon();
      settle();
    };
    const fail = (error: Error | undefined) => end(() => reject(error!));
    const stop = () => fail(coded('ECONNRESET', 'the sender is closed'));
    const timeOut = () => fail(coded('ETIMEDOUT', 'no address has responded in time'));
    const deadline = setTimeout(timeOut, deadlineAtMs - performance.now());
    races.add(stop);

    const tryNext = () => {
      if (isOver) return;
      if (nextTimer) clearTimeout(nextTimer);
      nextTimer = null;
      const mayTry = tried.size < (isMoreAwaited ? maxAddressesOfHalf : maxAddresses);
      const next = mayTry ? untried.shift() : undefined;
      if (next) begin(next);
      else if (underWay.size === 0 && !isMoreAwaited) fail(failure);
    };

    const begin = ({ address, family }: LookupAddress) => {
      tried.add(address);
      lastFamily = family;
      const opening = open(address);
      underWay.add(opening);
      nextTimer = setTimeout(tryNext, nextAddressAfterMs);
      opening.opened.then(
        (socket) => {
          underWay.delete(opening);
          if (isOver) socket.destroy();
          else end(() => resolve({ socket, address }));
        },
        (error: Error) => {
          underWay.delete(opening);
          failure = error;
          tryNext();
        },
      );
    };

    const goOn = () => {
      if (nextTimer === null) tryNext();
    };
    const takeIn = ({ addresses, rest }: Answer) => {
      isMoreAwaited = rest !== null;
      untried = alternating(
        addresses.filter(({ address }) => !tried.has(address)),
        lastFamily,
      );
      goOn();
      rest?.then(takeIn, (error: Error) => {
        isMoreAwaited = false;
        if (isDenial(error)) fail(error);
        else goOn();
      });
    };
    takeIn(answer);
  });
}

/** One of each family in turn (RFC 8305, 4), beginning with the one that was not tried last. */
function alternating(addresses: LookupAddress[], lastFamily: number): LookupAddress[] {
  const first = (addresses.find(({ family }) => family !== lastFamily) ?? addresses[0])?.family;
  const those = addresses.filter(({ family }) => family === first);
  const others = addresses.filter(({ family }) => family !== first);
  return those
    .flatMap((address, n) => [address, ...others.slice(n, n + 1)])
    .concat(others.slice(those.length));
}

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
