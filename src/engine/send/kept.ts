import type http from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { isIP, type Socket } from 'node:net';
import type { Answer, DnsResolver, Requester } from './dns/resolver.js';

type Target = http.RequestOptions & { requester: Requester };
/** Node's types leave it out. */
type Agent = http.Agent & { addRequest(request: http.ClientRequest, target: Target): void };

/** The open connections to a name, each with its address. */
interface Name {
  addresses: Map<Duplex, string>;
  lookUpAtMs: number;
  /** A request waits for it before it takes one of the connections. */
  lookup: Promise<unknown> | null;
}

/** A name is looked up at most this often, even if its TTL is 0; the resolver caches others for longer. */
const lookUpEveryMs = 250;
/** A later response closes connections, but delays no request. */
const maxLookupWaitMs = 100;
/** An idle connection may bring these, such as tickets of TLS, before it is closed. */
const maxUnaskedBytes = 64 * 1024;
const checkEveryMs = 250;

/** The connection beneath TLS: its bytes are counted whatever TLS makes of them. Node has no public name for it. */
export const wireOf = (socket: Duplex): { bytesRead: number } | null =>
  (socket as { _handle?: { _parent?: { bytesRead: number } } | null })._handle?._parent ?? null;

/** Counted, as an event for each connection that becomes idle would cost every delivery. */
const bytesReadOf = (socket: Duplex): number => (wireOf(socket) ?? (socket as Socket)).bytesRead;

/**
 * Closes kept connections when they are too old, too many, lead to an address that their name has left, or bring what
 * nobody has asked for. A busy one is closed when its request has ended.
 */
export class KeptConnections {
  /** Longest idle first, with the bytes that each had read by then. */
  readonly #idle = new Map<Duplex, number>();
  #check: NodeJS.Timeout | null = null;
  /** To be closed, but busy. */
  readonly #retired = new Set<Duplex>();
  readonly #names = new Map<string, Name>();

  constructor(
    readonly dns: DnsResolver,
    readonly limits: { maxIdle: number; maxAgeMs: number },
  ) {}

  /** Watches the connections that the agent keeps; `opened` makes each of them known. */
  manage(httpAgent: http.Agent): void {
    const agent = httpAgent as Agent;
    // Node destroys the socket if this returns false; its type does not say so.
    const keep = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean;
    const reuse = agent.reuseSocket.bind(agent);
    const add = agent.addRequest.bind(agent);
    agent.keepSocketAlive = (socket) => {
      if (!keep(socket) || !this.#makeRoom()) return false;
      this.#idle.set(socket, bytesReadOf(socket));
      this.#check ??= setTimeout(() => this.#closeTalking(), checkEveryMs).unref();
      return true;
    };
    agent.reuseSocket = (socket, request) => {
      this.#idle.delete(socket);
      reuse(socket, request);
    };
    agent.addRequest = (request, target) => {
      const lookup = this.#lookupOf(target);
      if (lookup === null) add(request, target);
      else void lookup.then(() => request.destroyed || add(request, target));
    };
    // Before Node gives the connection to a request that waits for one.
    agent.prependListener('free', (socket: Duplex) => {
      if (this.#retired.has(socket)) socket.destroy();
    });
  }

  /** `name`: null if the connection is to an address without a name. */
  opened(socket: Duplex, name: string | null, address: string): void {
    // Connections that were opened together are not all replaced together.
    const lifetimeMs = this.limits.maxAgeMs * (1 - Math.floor(Math.random() * 8) / 32);
    const timer = setTimeout(() => this.#retire(socket), lifetimeMs).unref();
    if (name !== null) this.#add(name, socket, address);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#idle.delete(socket);
      this.#retired.delete(socket);
      if (name !== null) this.#remove(name, socket);
    });
  }

  #add(host: string, socket: Duplex, address: string): void {
    const name = this.#names.get(host) ?? {
      addresses: new Map<Duplex, string>(),
      lookUpAtMs: 0,
      lookup: null,
    };
    this.#names.set(host, name);
    name.addresses.set(socket, address);
  }

  #remove(host: string, socket: Duplex): void {
    const name = this.#names.get(host);
    name?.addresses.delete(socket);
    if (name?.addresses.size === 0) this.#names.delete(host);
  }

  #lookupOf(target: Target): Promise<unknown> | null {
    const name = this.#names.get(target.host!);
    if (name === undefined) return null;
    if (performance.now() >= name.lookUpAtMs) this.#lookUp(name, target);
    return name.lookup;
  }

  #lookUp(name: Name, { host, requester }: Target): void {
    name.lookUpAtMs = Infinity; // until this one has ended
    const judge = ({ addresses, rest }: Answer): Promise<void> | undefined => {
      const isKnown = (family: number) => rest === null || addresses.some((known) => known.family === family);
      for (const [socket, its] of name.addresses)
        if (isKnown(isIP(its)) && !addresses.some(({ address }) => address === its)) this.#retire(socket);
      return rest?.then(judge);
    };
    // A name that is not found now does not close what works.
    const found = this.dns
      .resolve(host!, requester)
      .then(judge)
      .catch(() => undefined);
    void found.then(() => (name.lookUpAtMs = performance.now() + lookUpEveryMs));
    const patience = delay(maxLookupWaitMs, undefined, { ref: false });
    name.lookup = Promise.race([found, patience]).then(() => (name.lookup = null));
  }

  /** Those of hosts that are no longer called go first: an agent reuses the newest of a host. */
  #makeRoom(): boolean {
    if (this.#idle.size < this.limits.maxIdle) return true;
    const [oldest] = this.#idle.keys();
    if (oldest) this.#close(oldest);
    return oldest !== undefined;
  }

  #retire(socket: Duplex): void {
    if (this.#idle.has(socket)) this.#close(socket);
    else this.#retired.add(socket);
  }

  #closeTalking(): void {
    this.#check = null;
    for (const [socket, readBytes] of this.#idle)
      if (bytesReadOf(socket) - readBytes > maxUnaskedBytes) this.#close(socket);
    if (this.#idle.size > 0) this.#check = setTimeout(() => this.#closeTalking(), checkEveryMs).unref();
  }

  #close(socket: Duplex): void {
    this.#idle.delete(socket);
    socket.destroy();
    socket.emit('agentRemove'); // the agent would give it to a request until it is told
  }
}
