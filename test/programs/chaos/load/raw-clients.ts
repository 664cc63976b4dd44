import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RawClients } from './raw.ts';

const counts: Record<string, number> = {};
// Listens for the end before anything is awaited: on a busy machine both messages may have come already.
process.on('message', (message) => message === 'stop' && process.send!(counts));
const [{ url, connections, text, repeat, reads, again, pours }] = (await once(process, 'message')) as [
  RawClients,
];
const { hostname, port } = new URL(url);
const piece = Buffer.from(text.repeat(repeat));
const poured = pours === undefined ? null : Buffer.from(pours);
/** All together have a link of 100 Mbit/s: on loopback they would take the CPU from the service. */
const pouredBytesPerSecond = 12_500_000;
const pourEveryMs = (1_000 * connections * (poured?.length ?? 0)) / pouredBytesPerSecond;

function open(): void {
  const socket = connect(Number(port), hostname, () => {
    socket.write(piece);
    pour();
  });
  const pour = () => {
    if (poured && socket.writable && socket.write(poured)) setTimeout(pour, pourEveryMs);
  };
  socket.on('drain', () => setTimeout(pour, pourEveryMs));
  socket.on('error', () => undefined);
  if (!reads) return;
  let rest = '';
  socket.on('data', (chunk: Buffer) => {
    const seen = rest + chunk.toString('latin1');
    for (const [, status] of seen.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      counts[status!] = (counts[status!] ?? 0) + 1;
      if (again && !poured) socket.write(piece);
    }
    rest = seen.slice(seen.lastIndexOf('\n') + 1).slice(0, 100);
  });
  if (again) socket.once('close', () => setTimeout(open, 100));
}

for (let n = 0; n < connections; n += 1) {
  open();
  if (n % 50 === 49) await sleep(20);
}
