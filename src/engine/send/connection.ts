import http from 'node:http';
import https from 'node:https';
import { isIP, type OnReadOpts, type Socket } from 'node:net';
import type { LookupAddress } from 'node:dns';
import type { Duplex } from 'node:stream';
import { DEFAULT_CIPHERS, TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import {
  addressDenied,
  checkedAddresses,
  guardedLookup,
  isDeniedAddress,
  type DestinationPolicy,
  checkTargetAddress,
} from './destination.js';
import { openFilesLimit } from '../../platform/open-files.js';
import type { DnsResolver, Requester } from './dns/resolver.js';
import { boundHandshakes } from './handshakes.js';
import type { Progress } from './phases.js';
import { proxyOf, receiverBehind, throughTunnels, type AttemptOptions } from './proxy.js';

export interface RouteOptions {
  policy: DestinationPolicy;
  dns: DnsResolver;
  /** `http://user:password@host:port`. It gets addresses, never names: this process resolves and checks them. */
  egressProxy?: string | undefined;
  /** Default 1,024, more than lanes let hang with usual settings. Further attempts wait, within their deadline. */
  maxSocketsPerHost?: number | undefined;
  /**
   * The bound for all hosts together. Default: 2,000, at most an eighth of the open files that the process may have,
   * divided by `sharedBy`.
   */
  maxIdleSockets?: number | undefined;
  /** The number of routers in the process. Default: 1. */
  sharedBy?: number | undefined;
  /** Certificate authorities (PEM) to trust instead of Node's, in tests. */
  certificateAuthority?: string | undefined;
}

/** `fresh` connections are never used twice. */
export type Connection = 'pooled' | 'fresh';

export interface Router {
  /** Node's request options for an address. Throws `ADDRESS_DENIED` if the address may not be called any more. */
  route(
    url: URL,
    address: string,
    connection: Connection,
    headers: string[],
    requester: Requester,
    progress: Progress,
  ): AttemptOptions;
  close(): void;
}

/**
 * They bound what a handshake costs: with finite-field Diffie-Hellman the receiver chooses the modulus, and one of
 * 10,000 bits costs a second. The groups are those of Mozilla's intermediate configuration.
 */
const TLS_LIMITS = {
  ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
  ecdhCurve: 'X25519:prime256v1:secp384r1',
  sigalgs: [
    ...['ecdsa_secp256r1_sha256', 'ecdsa_secp384r1_sha384', 'ed25519'],
    ...[256, 384, 512].map((bits) => `rsa_pss_rsae_sha${bits}`),
    ...[256, 384, 512].map((bits) => `rsa_pkcs1_sha${bits}`),
  ].join(':'),
};

/** Hanging attempts occupy their connections: with fewer, one path of a host would delay another. */
const MAX_SOCKETS_PER_HOST = 1_024;
/** Less than the usual idle timeout of load balancers (60 s). Node heeds a shorter Keep-Alive hint. */
const IDLE_TIMEOUT_MS = 50_000;
/** Node's 250 ms are too short for a distant receiver with several addresses. */
const NEXT_ADDRESS_AFTER_MS = 1_000;
/** Shippers choose the hosts, and each keeps its connections for a while: together they could take all open files. */
const MAX_IDLE_SOCKETS = 2_000;
const IDLE_SHARE_OF_OPEN_FILES = 1 / 8;
const MAX_HEADER_BYTES = 16 * 1024;
const CHECKED_ADDRESSES = 10_000;

/** Nearly every response body is shorter. Reading more of an endless one makes garbage faster than it is collected. */
export const READ_BYTES = 8 * 1024;
const USUAL_HEAD_BYTES = 4 * 1024;

/**
 * Node allocates 64 KiB for every read. Our connections read into this one buffer and copy from it; it holds a head and
 * as much of a body as is read. TLS hands over at most 16 KiB at a time anyway.
 */
const smallReads: OnReadOpts = {
  buffer: new Uint8Array(USUAL_HEAD_BYTES + READ_BYTES),
  callback(this: Socket, bytes: number, buffer: Uint8Array) {
    return this.push(Buffer.from(buffer.subarray(0, bytes)));
  },
};

export function createRouter(options: RouteOptions): Router {
  const { policy } = options;
  const agents = { pooled: createAgents(options, true), fresh: createAgents(options, false) };
  const checkAddress = createAddressCheck(policy);

  return {
    route(url, address, connection, headers, requester, progress) {
      checkAddress(address);
      const secure = url.protocol === 'https:';
      const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
      const literal = isIP(host) !== 0;
      // Node calls no lookup for a literal. Checked each time, because this machine's own addresses may change.
      if (literal && isDeniedAddress(host, policy)) throw addressDenied(host);
      return {
        protocol: url.protocol,
        host,
        port: url.port,
        path: url.pathname + url.search,
        method: 'POST',
        headers,
        agent: secure ? agents[connection].https : agents[connection].http,
        maxHeaderSize: MAX_HEADER_BYTES,
        requester,
        progress,
        // Given, so that it never depends on a Host header; empty, it saves Node deriving one that http does not use.
        servername: secure && !literal ? host : '',
      };
    },
    close() {
      for (const pair of Object.values(agents)) {
        pair.http.destroy();
        pair.https.destroy();
      }
      options.dns.close();
    },
  };
}

/** Repeats the check of registration, under this process's policy, once for each address. */
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
    ...TLS_LIMITS,
    // Explicit, or NODE_TLS_REJECT_UNAUTHORIZED=0 would switch it off.
    rejectUnauthorized: true,
    ...(options.certificateAuthority === undefined ? {} : { ca: options.certificateAuthority }),
  };
  const agents = {
    http: new http.Agent({ ...common, onread: smallReads }),
    https: new https.Agent(secure),
  };
  const ofProcess = Math.min(MAX_IDLE_SOCKETS, openFilesLimit() * IDLE_SHARE_OF_OPEN_FILES);
  boundIdle(Object.values(agents), options.maxIdleSockets ?? Math.floor(ofProcess / (options.sharedBy ?? 1)));
  return options.egressProxy === undefined
    ? { http: withGuard(agents.http, options), https: boundHandshakes(withGuard(agents.https, options)) }
    : tunnelled(agents, options.egressProxy, options);
}

/**
 * Closes the socket that was idle longest when one more than `max` becomes idle, so those of hosts that are no longer
 * called go first. An agent reuses the newest of a host and drops closed ones from the other end.
 */
function boundIdle(agents: http.Agent[], max: number): void {
  const idle = new Set<Duplex>(); // longest idle first
  function forget(this: Duplex) {
    idle.delete(this);
  }
  for (const agent of agents) {
    // Node destroys the socket if this returns false; its type does not say so.
    const keep = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean;
    const reuse = agent.reuseSocket.bind(agent);
    agent.keepSocketAlive = (socket) => {
      if (!keep(socket)) return false;
      idle.add(socket);
      socket.once('close', forget);
      const [oldest] = idle;
      if (idle.size > max) oldest!.destroy();
      return true;
    };
    agent.reuseSocket = (socket, request) => {
      idle.delete(socket);
      socket.off('close', forget);
      reuse(socket, request);
    };
  }
}

/** Names resolve within the attempt's deadline, and every address is checked. */
function withGuard<Agent extends http.Agent>(agent: Agent, { policy, dns }: RouteOptions): Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (target, callback) => {
    const { requester, progress } = target as AttemptOptions;
    const lookup = guardedLookup(policy, (hostname) => dns.resolve(hostname, requester));
    progress.begin();
    const socket = connect({ ...target, lookup }, callback);
    if (socket) watch(socket, progress);
    return socket;
  };
  return agent;
}

/** Call it when the connection is begun: a name that is in the cache resolves before Node shows us the socket. */
function watch(socket: Duplex, progress: Progress): void {
  socket.once('lookup', (error?: Error | null) => {
    if (!error) progress.ended('dns');
  });
  socket.on('connectionAttempt', (address: string) => (progress.remoteAddress = address));
  socket.once('connect', () => progress.ended('connect'));
  if (socket instanceof TLSSocket) socket.once('secureConnect', () => progress.ended('tls'));
}

/** The receiver's IP address on an open connection; of a tunnel, not the proxy's. */
export const remoteAddressOf = (socket: Socket): string | null =>
  receiverBehind(socket) ?? socket.remoteAddress?.split('%')[0] ?? null; // without a zone

function tunnelled(
  agents: { http: http.Agent; https: https.Agent },
  egressProxy: string,
  { policy, dns }: RouteOptions,
) {
  const proxy = proxyOf(egressProxy);
  const overTls = agents.https.createConnection.bind(agents.https);
  const addressesOf = async ({ host, requester, progress }: AttemptOptions): Promise<LookupAddress[]> => {
    const family = isIP(host ?? '');
    if (family !== 0) return [{ address: host!, family }]; // checked in `route`
    const found = await checkedAddresses(host ?? '', policy, (hostname) => dns.resolve(hostname, requester));
    progress.ended('dns');
    return found;
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
