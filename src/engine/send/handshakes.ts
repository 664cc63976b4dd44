import type http from 'node:http';
import type { Duplex } from 'node:stream';
import { createGate } from '../../platform/limits/gate.js';
import type { AttemptOptions } from './proxy.js';

const atOnce = 8;
/** One that lasts longer waits for its receiver, and costs nothing meanwhile. */
const countsForMs = 250;

/**
 * Bounds how many TLS handshakes of one shipper begin at once: a receiver chooses what each costs us, with a long chain
 * of certificates for example, and those of other shippers go between them.
 */
export function boundHandshakes<Agent extends http.Agent>(agent: Agent): Agent {
  const connect = agent.createConnection.bind(agent);
  const gate = createGate({ concurrency: Infinity, concurrencyPerKey: atOnce });
  type Connect = Parameters<typeof connect>;

  const begin = (target: Connect[0], callback: Connect[1], leave: () => void) => {
    const socket = connect(target, callback) as Duplex;
    const timer = setTimeout(leave, countsForMs);
    const end = () => {
      clearTimeout(timer);
      leave();
    };
    socket.once('secureConnect', end).once('close', end);
    return socket;
  };
  agent.createConnection = (target, callback) => {
    const { shipperId, deadlineAtMs } = (target as AttemptOptions).requester;
    const entered = gate.enter(shipperId);
    if (entered) return begin(target, callback, entered);
    gate.ask(shipperId, {
      start: (leave) => {
        if (performance.now() < deadlineAtMs) return callback?.(null, begin(target, callback, leave));
        leave();
        callback?.(new Error('The attempt is over'), undefined as never);
      },
    });
    return undefined;
  };
  return agent;
}

const heavyMs = 100;

/**
 * True if the handshake lasted longer than the two round trips that it may need: it costs us or its receiver much. The
 * connection took one round trip.
 */
export const isHeavy = ({ connectMs, tlsMs }: { connectMs: number | null; tlsMs: number | null }): boolean =>
  connectMs !== null && tlsMs !== null && tlsMs - 2 * connectMs >= heavyMs;
