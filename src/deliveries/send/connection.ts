import http from 'node:http';
import https from 'node:https';
import { isIP, type OnReadOpts, type Socket } from 'node:net';
import type { LookupAddress } from 'node:dns';
import type { Duplex } from 'node:stream';
import { LRUCache } from 'lru-cache';
import {
  addressDenied,
  checkedAddresses,
  checkTargetAddress,
  guardedLookup,
  isDeniedAddress,
  type DestinationPolicy,
} from '../../webhooks/destination/destination.js';
import type { Asker, Names } from './names/names.js';
import { proxyOf, throughTunnels, type AttemptOptions } from './proxy.js';
import { READ_BYTES } from './response.js';

export interface RouteOptions {
  policy: DestinationPolicy;
  names: Names;
  /** `http://user:password@host:port`; it is told addresses, resolved and checked here. */
  egressProxy?: string | undefined;
  /**
   * Default 1,024, more than lanes let hang on a usual setting. What is beyond it waits for a connection, on its own
   * deadline.
   */
  maxSocketsPerHost?: number | undefined;
  /** Certificate authorities (PEM) to trust instead of Node's, in tests. */
  certificateAuthority?: string | undefined;
}

/** `fresh` connections are never used twice. */
export type Connection = 'pooled' | 'fresh';

export interface Router {
  /** What Node needs to reach a webhook's address; throws `ADDRESS_DENIED` where it may not be called any more. */
  route(url: URL, address: string, connection: Connection, asker: Asker): AttemptOptions;
  close(): void;
}

/** Attempts that hang keep their connections: fewer would make one path of a host delay another. */
const MAX_SOCKETS_PER_HOST = 1_024;
/** A little less than the usual idle limits of load balancers (60 s); a shorter Keep-Alive hint is heeded by Node. */
const IDLE_TIMEOUT_MS = 50_000;
/** Node's 250 ms give up too early on a far receiver that has several addresses. */
const NEXT_ADDRESS_AFTER_MS = 1_000;
const MAX_HEADER_BYTES = 16 * 1024;
const CHECKED_ADDRESSES = 10_000;

const USUAL_HEAD_BYTES = 4 * 1024;

/**
 * Node makes a new buffer of 64 KiB for every read. All our connections read into this one instead and copy what
 * came; it holds a head and as much of a body as is wanted. (TLS hands over at most 16 KiB at a time anyhow.)
 */
const smallReads: OnReadOpts = {
  buffer: new Uint8Array(USUAL_HEAD_BYTES + READ_BYTES),
  callback(this: Socket, bytes: number, buffer: Uint8Array) {
    return this.push(Buffer.from(buffer.subarray(0, bytes)));
  },
};

/** Chooses agent and address for each request. The agents hold the guarded lookup, so no request is without. */
export function createRouter(options: RouteOptions): Router {
  const { policy } = options;
  const agents = { pooled: createAgents(options, true), fresh: createAgents(options, false) };
  const checkAddress = createAddressCheck(policy);

  return {
    route(url, address, connection, asker) {
      checkAddress(address);
      const secure = url.protocol === 'https:';
      const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
      const literal = isIP(host) !== 0;
      // Node calls no lookup for these; which addresses are our own may change.
      if (literal && isDeniedAddress(host, policy)) throw addressDenied(host);
      const agent = secure ? agents[connection].https : agents[connection].http;
      const common = { agent, method: 'POST', maxHeaderSize: MAX_HEADER_BYTES, asker };
      // Without it Node would verify the certificate against a Host header.
      return secure ? { ...common, servername: literal ? '' : host } : common;
    },
    close() {
      for (const pair of Object.values(agents)) {
        pair.http.destroy();
        pair.https.destroy();
      }
      options.names.close();
    },
  };
}

/** The check of registration, made again: under this process's policy the same text passes each time. */
function createAddressCheck(policy: DestinationPolicy): (address: string) => void {
  const passed = new LRUCache<string, true>({ max: CHECKED_ADDRESSES });
  return (address) => {
    if (passed.has(address)) return;
    const problem = checkTargetAddress(address, policy);
    if (problem !== null) throw addressDenied(problem);
    passed.set(address, true);
  };
}

function createAgents(options: RouteOptions, keepAlive: boolean) {
  const common = {
    keepAlive,
    maxSockets: options.maxSocketsPerHost ?? MAX_SOCKETS_PER_HOST,
    timeout: IDLE_TIMEOUT_MS,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
  };
  const secure = {
    ...common,
    // Said in so many words, or NODE_TLS_REJECT_UNAUTHORIZED=0 would switch it off.
    rejectUnauthorized: true,
    ...(options.certificateAuthority === undefined ? {} : { ca: options.certificateAuthority }),
  };
  const agents = {
    http: new http.Agent({ ...common, onread: smallReads }),
    https: new https.Agent(secure),
  };
  return options.egressProxy === undefined
    ? { http: withGuard(agents.http, options), https: withGuard(agents.https, options) }
    : tunnelled(agents, options.egressProxy, options);
}

/** Every connection an agent makes looks names up for the attempt that it is made for, and checks what it finds. */
function withGuard<Agent extends http.Agent>(agent: Agent, { policy, names }: RouteOptions): Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (target, callback) => {
    const { asker } = target as AttemptOptions;
    const lookup = guardedLookup(policy, (hostname) => names.resolve(hostname, asker));
    return connect({ ...target, lookup }, callback);
  };
  return agent;
}

function tunnelled(
  agents: { http: http.Agent; https: https.Agent },
  egressProxy: string,
  { policy, names }: RouteOptions,
) {
  const proxy = proxyOf(egressProxy);
  const overTls = agents.https.createConnection.bind(agents.https);
  const addressesOf = async ({ host, asker }: AttemptOptions): Promise<LookupAddress[]> => {
    const family = isIP(host ?? '');
    if (family !== 0) return [{ address: host!, family }]; // checked with its route
    return checkedAddresses(host ?? '', policy, (hostname) => names.resolve(hostname, asker));
  };
  return {
    http: throughTunnels(agents.http, proxy, addressesOf, (_target, socket) => socket),
    https: throughTunnels(
      agents.https,
      proxy,
      addressesOf,
      (target, socket) => overTls({ ...target, socket } as http.ClientRequestArgs) as Duplex,
    ),
  };
}
