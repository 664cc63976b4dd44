import type https from 'node:https';
import type { Duplex } from 'node:stream';
import { createGate } from '../../platform/limits/gate.js';
import type { Requester } from './dns/resolver.js';
import type { ErrorCode } from './errors.js';
import type { PhaseTimes } from './phases.js';

const atOnce = 8;
/** One that lasts longer waits for its receiver, and costs nothing meanwhile. */
const countsForMs = 250;

/**
 * Bounds how many TLS connections of one shipper begin at once: a receiver chooses what each handshake costs us, with a
 * long chain of certificates for example, and those of other shippers go between them.
 */
export function boundHandshakes(agent: https.Agent): void {
  const connect = agent.createConnection.bind(agent);
  const gate = createGate({ concurrency: Infinity, concurrencyPerKey: atOnce });
  type Connect = Parameters<typeof connect>;

  /** Null if the callback gets the socket. */
  const begin = (target: Connect[0], callback: Connect[1], leave: () => void): Duplex | null => {
    const timer = setTimeout(leave, countsForMs);
    const end = () => {
      clearTimeout(timer);
      leave();
    };
    const watch = (socket: Duplex) => socket.once('secureConnect', end).once('close', end);
    const socket = connect(target, (error, opened) => {
      if (error) end();
      else watch(opened);
      callback?.(error, opened);
    });
    return socket ? watch(socket) : null;
  };
  agent.createConnection = (target, callback) => {
    const { shipperId, deadlineAtMs } = (target as { requester: Requester }).requester;
    const entered = gate.enter(shipperId);
    if (entered) return begin(target, callback, entered);
    const start = (leave: () => void) => {
      if (performance.now() < deadlineAtMs) {
        const socket = begin(target, callback, leave);
        if (socket) callback?.(null, socket);
        return;
      }
      leave();
      callback?.(new Error('The attempt is over'), undefined as unknown as Duplex);
    };
    gate.ask(shipperId, { start });
    return undefined;
  };
}

const heavyMs = 100;

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
  return (tlsMs ?? refusedMs) - 2 * connectMs >= heavyMs;
}
