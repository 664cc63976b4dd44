import http from 'node:http';
import https from 'node:https';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';

const CONNECT_TIMEOUT_MS = 15_000;

/**
 * An https agent whose connections are tunnels through an http proxy (CONNECT, RFC 9110, 9.3.6). The name is
 * resolved by the proxy; TLS is spoken with the receiver, and verified as without a proxy.
 */
export function createTunnelAgent(
  proxy: { host: string; port: number },
  options: https.AgentOptions,
): https.Agent {
  const agent = new https.Agent(options);
  const overSocket = agent.createConnection.bind(agent);
  agent.createConnection = (target, callback) => {
    const once = onlyOnce(callback);
    openTunnel(proxy, authority(target.host ?? '', Number(target.port)), (error, socket) => {
      if (error || !socket) return once(error ?? new Error('no tunnel'));
      once(null, overSocket({ ...target, socket } as http.ClientRequestArgs) as Duplex);
    });
    return undefined;
  };
  return agent;
}

type TunnelCallback = (error: Error | null, socket?: Duplex) => void;

function openTunnel(proxy: { host: string; port: number }, path: string, done: TunnelCallback): void {
  const connect = http.request({
    host: proxy.host,
    port: proxy.port,
    method: 'CONNECT',
    path,
    headers: { host: path },
    agent: false,
    timeout: CONNECT_TIMEOUT_MS,
  });
  connect.once('connect', (response, socket) => {
    if (response.statusCode === 200) return done(null, socket);
    socket.destroy();
    done(proxyRefused(`the egress proxy answered CONNECT with ${response.statusCode}`));
  });
  connect.once('timeout', () => connect.destroy(proxyRefused('the egress proxy does not answer')));
  connect.on('error', done);
  connect.end();
}

function proxyRefused(message: string): Error {
  return Object.assign(new Error(message), { code: 'PROXY_REFUSED' });
}

function authority(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Node's agent counts its sockets by these calls. */
function onlyOnce(callback: ((error: Error | null, socket: Duplex) => void) | undefined): TunnelCallback {
  let called = false;
  return (error, socket) => {
    if (called) return;
    called = true;
    // Node reads the socket only where there is no error, which its type cannot say.
    callback?.(error, socket as Duplex);
  };
}
