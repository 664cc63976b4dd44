import http from 'node:http';
import type { LookupAddress } from 'node:dns';
import type { Duplex } from 'node:stream';
import type { Asker } from './names/names.js';
/** What an agent is told of a connection that it is to make. */
export type AttemptOptions = http.RequestOptions & {
    asker: Asker;
};
/** An http proxy that takes CONNECT (RFC 9110, 9.3.6). */
export interface Proxy {
    host: string;
    port: number;
    /** Value of Proxy-Authorization. */
    credentials: string | null;
}
/** `http://user:password@host:port` */
export declare function proxyOf(text: string): Proxy;
/**
 * Makes an agent's connections tunnels through a proxy. It is told the address, which was resolved and checked here, and
 * never the name: what it would resolve itself nobody had checked. An address to which it has no way is followed by the
 * next one.
 */
export declare function throughTunnels<Agent extends http.Agent>(agent: Agent, proxy: Proxy, addressesOf: (target: AttemptOptions) => Promise<LookupAddress[]>, wrap: (target: AttemptOptions, socket: Duplex) => Duplex): Agent;
