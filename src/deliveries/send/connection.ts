import http from 'node:http';
import https from 'node:https';
import { isIP, type OnReadOpts, type Socket } from 'node:net';
import {
  addressDenied,
  guardedLookup,
  isDeniedAddress,
  type DestinationPolicy,
  type Resolve,
} from '../../webhooks/destination.js';
import { READ_BYTES } from './response.js';
import { createTunnelAgent } from './proxy.js';

export interface RouteOptions {
  policy: DestinationPolicy;
  /** `http://host:port`; names are then resolved, and their addresses checked, by the proxy. */
  egressProxy?: string | undefined;
  /** Default 1,024, more than lanes let hang on a usual setting. What is beyond it waits for a connection, on its own deadline. */
  maxSocketsPerHost?: number | undefined;
  /** Stands in for `dns.lookup`, in tests. */
  lookup?: Resolve | undefined;
  /** Certificate authorities (PEM) to trust instead of Node's, in tests. */
  certificateAuthority?: string | undefined;
}

/** `fresh` connections are never used twice. */
export type Connection = 'pooled' | 'fresh';

export interface Router {
  /** What Node needs to reach this URL; throws `ADDRESS_DENIED` for a literal address that is denied. */
  route(url: URL, connection: Connection): http.RequestOptions;
  close(): void;
}

/** Attempts that hang keep their connections: fewer would make one path of a host delay another. */
const MAX_SOCKETS_PER_HOST = 1_024;
/** A little less than the usual idle limits of load balancers (60 s); a shorter Keep-Alive hint is heeded by Node. */
const IDLE_TIMEOUT_MS = 50_000;
/** Node's 250 ms give up too early on a far receiver that has several addresses. */
const NEXT_ADDRESS_AFTER_MS = 1_000;
const MAX_HEADER_BYTES = 16 * 1024;

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
  const proxy = options.egressProxy === undefined ? null : proxyAddress(options.egressProxy);
  const agents = { pooled: createAgents(options, proxy, true), fresh: createAgents(options, proxy, false) };

  return {
    route(url, connection) {
      const secure = url.protocol === 'https:';
      const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
      const literal = isIP(host) !== 0;
      // Node calls no lookup for these.
      if (literal && isDeniedAddress(host, options.policy)) throw addressDenied(host);
      const agent = secure ? agents[connection].https : agents[connection].http;
      const common = { agent, method: 'POST', maxHeaderSize: MAX_HEADER_BYTES };
      if (proxy && !secure) return { ...common, hostname: proxy.host, port: proxy.port, path: url.href };
      // Without it Node would verify the certificate against a Host header.
      return secure ? { ...common, servername: literal ? '' : host } : common;
    },
    close() {
      for (const pair of Object.values(agents)) {
        pair.http.destroy();
        pair.https.destroy();
      }
    },
  };
}

type ProxyAddress = { host: string; port: number };

function createAgents(options: RouteOptions, proxy: ProxyAddress | null, keepAlive: boolean) {
  const common = {
    keepAlive,
    maxSockets: options.maxSocketsPerHost ?? MAX_SOCKETS_PER_HOST,
    timeout: IDLE_TIMEOUT_MS,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    ...(proxy ? {} : { lookup: guardedLookup(options.policy, options.lookup) }),
  };
  const secure = {
    ...common,
    // Said in so many words, or NODE_TLS_REJECT_UNAUTHORIZED=0 would switch it off.
    rejectUnauthorized: true,
    ...(options.certificateAuthority === undefined ? {} : { ca: options.certificateAuthority }),
  };
  return {
    http: new http.Agent({ ...common, onread: smallReads }),
    https: proxy ? createTunnelAgent(proxy, secure) : new https.Agent(secure),
  };
}

function proxyAddress(text: string): ProxyAddress {
  const url = new URL(text);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 80) };
}
