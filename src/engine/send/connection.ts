import http from 'node:http';
import https from 'node:https';
import { once } from 'node:events';
import { isIP, type OnReadOpts, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, DEFAULT_CIPHERS, TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import {
  addressDenied,
  checked,
  checkTargetAddress,
  isDeniedAddress,
  requestTargetOf,
  type DestinationPolicy,
} from './destination.js';
import { createGate } from '../../platform/limits/gate.js';
import { openFilesLimit } from '../../platform/open-files.js';
import type { Answer, DnsResolver, Requester } from './dns/resolver.js';
import type { ErrorCode } from './errors.js';
import { KeptConnections } from './kept.js';
import { openTunnel, proxyOf, race, type Opening, type Races } from './race.js';

type AttemptOptions = http.RequestOptions & {
  servername: string;
  requester: Requester;
  progress: Progress;
};

export interface RouteOptions {
  policy: DestinationPolicy;
  dns: DnsResolver;
  /** `http://user:password@host:port`. It gets addresses, never names: this process resolves and checks them. */
  egressProxy?: string | undefined;
  /**
   * The bound for all hosts together. Default: 2,000, at most an eighth of the open files that the process may have,
   * divided by `sharedBy`.
   */
  maxIdleSockets?: number | undefined;
  /** A connection is replaced after that time at most. Default: 2 minutes. */
  maxAgeMs?: number | undefined;
  /** The number of routers in the process. Default: 1. */
  sharedBy?: number | undefined;
  /** Shown to receivers that ask for one: PEM. */
  clientCertificate?: { cert: string; key: string } | undefined;
  /** Certificate authorities (PEM) to trust instead of Node's, in tests. */
  certificateAuthority?: string | undefined;
}

/** The phases in their order; `request` ends when the request is written. */
export type Phase = 'dns' | 'connect' | 'tls' | 'request' | 'first byte';

/**
 * The duration of each phase in whole milliseconds, rounded down, so that they never add up to more than the attempt
 * took. Null if the phase did not happen (a reused connection, an address literal, plain http) or did not end.
 */
export interface PhaseTimes {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  /** The time from the written request to the head of the response. */
  firstByteMs: number | null;
}

const fields = { dns: 'dnsMs', connect: 'connectMs', tls: 'tlsMs', 'first byte': 'firstByteMs' } as const;

/** How far an exchange is. Each phase begins where the one before ended, or at `begin`. */
export interface Progress {
  times: PhaseTimes;
  /** The receiver's IP address, as soon as one is chosen. */
  remoteAddress: string | null;
  begin(): void;
  ended(phase: Phase): void;
}

export function createProgress(onPhase: ((phase: Phase) => void) | undefined): Progress {
  let sinceMs = performance.now();
  const progress: Progress = {
    times: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
    remoteAddress: null,
    begin: () => void (sinceMs = performance.now()),
    ended: (phase) => {
      const nowMs = performance.now();
      if (phase !== 'request') progress.times[fields[phase]] = Math.floor(nowMs - sinceMs);
      sinceMs = nowMs;
      onPhase?.(phase);
    },
  };
  return progress;
}

/** `fresh` connections are never used twice. */
export type Connection = 'pooled' | 'fresh';

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

/** Less than the usual idle timeout of load balancers (60 s). Node heeds a shorter Keep-Alive hint. */
const IDLE_TIMEOUT_MS = 50_000;
/** Shippers choose the hosts, and each keeps its connections for a while: together they could take all open files. */
const MAX_IDLE_SOCKETS = 2_000;
const IDLE_SHARE_OF_OPEN_FILES = 1 / 8;
const MAX_AGE_MS = 120_000;
const MAX_HEADER_BYTES = 16 * 1024;
const CHECKED_ADDRESSES = 10_000;
/** TLS connections of one shipper that begin at once: a receiver chooses what each costs us. */
const HANDSHAKES_AT_ONCE = 8;
/** A handshake that lasts longer waits for its receiver, and costs nothing meanwhile. */
const HANDSHAKE_COUNTS_MS = 250;
const HEAVY_HANDSHAKE_MS = 100;

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

export function createRouter(options: RouteOptions) {
  const { policy } = options;
  const races: Races = new Set();
  const agents = { pooled: createAgents(options, true, races), fresh: createAgents(options, false, races) };
  const checkAddress = createAddressCheck(policy);

  return {
    /** Node's request options for an address. Throws `ADDRESS_DENIED` if the address may not be called any more. */
    route(
      url: URL,
      address: string,
      connection: Connection,
      headers: string[],
      requester: Requester,
      progress: Progress,
    ): AttemptOptions {
      checkAddress(address);
      const secure = url.protocol === 'https:';
      const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
      const literal = isIP(host) !== 0;
      // Checked each time, because this machine's own addresses may change.
      if (literal && isDeniedAddress(host, policy)) throw addressDenied(host);
      return {
        protocol: url.protocol,
        host,
        port: url.port,
        path: requestTargetOf(address),
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
      for (const stop of races) stop();
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

function createAgents(options: RouteOptions, keepAlive: boolean, races: Races) {
  const { certificateAuthority: ca, clientCertificate } = options;
  const common = { keepAlive, timeout: IDLE_TIMEOUT_MS };
  const tls = { ...TLS_LIMITS, ...(ca && { ca }) };
  // As an option of its own, the certificate would be part of the name by which an agent finds a connection.
  const secureContext = clientCertificate && createSecureContext({ ...tls, ...clientCertificate });
  const agents = {
    http: new http.Agent({ ...common, onread: smallReads }),
    // `rejectUnauthorized` is explicit, or NODE_TLS_REJECT_UNAUTHORIZED=0 would switch it off.
    https: new https.Agent({
      ...common,
      ...tls,
      rejectUnauthorized: true,
      ...(secureContext && { secureContext }),
    }),
  };
  const kept = keepAlive ? keptConnections(options) : null;
  for (const agent of Object.values(agents)) {
    kept?.manage(agent);
    connectByRace(agent, options, kept, races);
  }
  boundHandshakes(agents.https);
  return agents;
}

function keptConnections({ dns, maxIdleSockets, sharedBy = 1, maxAgeMs = MAX_AGE_MS }: RouteOptions) {
  const ofProcess = Math.min(MAX_IDLE_SOCKETS, openFilesLimit() * IDLE_SHARE_OF_OPEN_FILES);
  return new KeptConnections(dns, { maxIdle: maxIdleSockets ?? Math.floor(ofProcess / sharedBy), maxAgeMs });
}

type Connect = (target: http.ClientRequestArgs) => Socket;

/** Connects to the addresses of a name, resolved within the attempt's deadline and checked, or through a proxy. */
function connectByRace(
  agent: http.Agent,
  { policy, dns, egressProxy }: RouteOptions,
  kept: KeptConnections | null,
  races: Races,
): void {
  const connect = agent.createConnection.bind(agent) as Connect;
  const proxy = egressProxy === undefined ? null : proxyOf(egressProxy);

  const addressesOf = async ({ host, requester, progress }: AttemptOptions): Promise<Answer> => {
    const family = isIP(host!);
    if (family !== 0) return { addresses: [{ address: host!, family }], rest: null }; // checked in `route`
    const answer = checked(host!, await dns.resolve(host!, requester), policy);
    progress.ended('dns');
    return answer;
  };

  const connectToFirst = async (target: AttemptOptions): Promise<Duplex> => {
    const { host, port, requester, progress } = target;
    progress.begin();
    const answer = await addressesOf(target);
    const open = (address: string): Opening => {
      progress.remoteAddress = address;
      return proxy
        ? openTunnel(proxy, address, Number(port))
        : dial(() => connect({ ...target, host: address }));
    };
    const { socket: opened, address } = await race(answer, requester.deadlineAtMs, open, races);
    progress.remoteAddress = address;
    progress.ended('connect');
    const isBare = proxy !== null && agent instanceof https.Agent;
    const socket = isBare ? connect({ ...target, socket: opened } as http.ClientRequestArgs) : opened;
    if (proxy) receivers.set(socket, address);
    if (socket instanceof TLSSocket) socket.once('secureConnect', () => progress.ended('tls'));
    kept?.opened(socket, isIP(host!) === 0 ? host! : null, address);
    return socket;
  };

  agent.createConnection = (target, callback) => {
    connectToFirst(target as AttemptOptions).then(
      (socket) => callback?.(null, socket),
      // Node ignores the socket if there is an error; its type does not say so.
      (error: Error) => callback?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  };
}

/** The handshakes of other shippers go between those of one whose receivers are expensive. */
function boundHandshakes(agent: https.Agent): void {
  const connect = agent.createConnection.bind(agent);
  const gate = createGate({ concurrency: Infinity, concurrencyPerKey: HANDSHAKES_AT_ONCE });
  agent.createConnection = (target, callback) => {
    const { shipperId, deadlineAtMs } = (target as AttemptOptions).requester;
    const start = (leave: () => void) => {
      if (performance.now() >= deadlineAtMs) return leave(); // the attempt is over
      const timer = setTimeout(leave, HANDSHAKE_COUNTS_MS);
      const end = () => {
        clearTimeout(timer);
        leave();
      };
      connect(target, (error, socket) => {
        if (error) end();
        else socket.once('secureConnect', end).once('close', end);
        callback?.(error, socket);
      });
    };
    gate.ask(shipperId, { start });
    return undefined;
  };
}

/**
 * True if the handshake lasted longer than the two round trips that it may need: it costs us or its receiver much. The
 * connection took one round trip. One whose certificates are refused in the end costs as much.
 */
export function isHeavy(
  sent: Omit<PhaseTimes, 'firstByteMs'> & { errorCode: ErrorCode | null; durationMs: number },
): boolean {
  const { dnsMs, connectMs, tlsMs, errorCode, durationMs } = sent;
  if (connectMs === null) return false;
  const refusedMs = errorCode === 'TLS' ? durationMs - (dnsMs ?? 0) - connectMs : 0;
  return (tlsMs ?? refusedMs) - 2 * connectMs >= HEAVY_HANDSHAKE_MS;
}

function dial(connect: () => Socket): Opening {
  const socket = connect();
  return { opened: once(socket, 'connect').then(() => socket), abandon: () => void socket.destroy() };
}

/** The receiver's address for each tunnel: Node knows only the proxy's. */
const receivers = new WeakMap<Duplex, string>();

/** The receiver's IP address on an open connection; of a tunnel, not the proxy's. */
export const remoteAddressOf = (socket: Socket): string | null =>
  receivers.get(socket) ?? socket.remoteAddress?.split('%')[0] ?? null; // without a zone
