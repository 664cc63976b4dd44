/** A process that uses the service as much as it can as one shipper, until stopped (greedy-shipper.ts). */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { sampleOrder } from '../../../support/client.js';

interface Target {
  url: string;
  accountKey: string;
  token: string;
  deliveryId: string;
}

const { url, accountKey, token, deliveryId } = JSON.parse(process.env.TARGET ?? '{}') as Target;
const { hostname, port } = new URL(url);
const orders = 64;
const readers = 12;
const nonReaders = 20;
const agent = new Agent({ keepAlive: true });
const counts: Record<string, number> = {};
const order = JSON.stringify(sampleOrder());
const reads = [`/v1/deliveries/${deliveryId}`, '/v1/deliveries?limit=250', '/v1/webhooks?limit=250'];
const withKey = (path: string) => `${path}${path.includes('?') ? '&' : '?'}key=${accountKey}`;

function ask(method: string, path: string, body = ''): Promise<void> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const count = (response: number | string) => (counts[response] = (counts[response] ?? 0) + 1);
    const asking = request({ agent, hostname, port, method, path: withKey(path), headers }, (response) => {
      count(response.statusCode ?? 0);
      response.resume().once('close', resolve);
    });
    asking.once('error', () => {
      count('broken');
      resolve();
    });
    asking.end(body);
  });
}

async function forever(work: () => Promise<void>): Promise<never> {
  for (;;) await work();
}

function neverRead(): void {
  const head = [`GET ${withKey(reads[0]!)} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, '', ''];
  const socket = connect(Number(port), hostname, () => socket.write(head.join('\r\n').repeat(100)));
  socket.on('error', () => undefined).once('close', () => setTimeout(neverRead, 100));
}

for (let n = 0; n < orders; n += 1) void forever(() => ask('POST', '/v1/shipments', order));
for (let n = 0; n < readers; n += 1)
  void forever(() => ask('GET', n < readers - 4 ? reads[0]! : reads[1 + (n % 2)]!));
for (let n = 0; n < nonReaders; n += 1) neverRead();
process.on('message', () => process.send!(counts));
