import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder, registerAccount, registerWebhook } from '../../../support/client.js';
import { probeHealth } from '../load/watch.js';
import { removeShipper, replaceWorkers, settleMs } from './fairness.js';
import type { Fault } from './fault.js';
import { notAccepted, orderSlowdown, othersArriveWithin } from './figures.js';

const certificates = 97;
const webhooks = 10;

const orderEveryMs = 5_000;

/** As many as a handshake has room for, on a curve whose signatures are dear to verify; all have one key. */
function makeChain() {
  const folder = mkdtempSync(join(tmpdir(), 'chaos-'));
  const openssl = (...given: string[]) => execFileSync('openssl', given, { cwd: folder, stdio: 'ignore' });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  openssl('ecparam', '-name', 'secp384r1', '-genkey', '-noout', '-out', 'key');
  openssl('req', '-x509', '-new', '-key', 'key', '-subj', '/CN=0', '-days', '9', '-out', '0');
  writeFileSync(join(folder, 'authority'), 'basicConstraints=critical,CA:TRUE');
  writeFileSync(join(folder, 'receiver'), 'subjectAltName=IP:127.0.0.1');
  for (let n = 1; n < certificates; n += 1) {
    const extensions = n === certificates - 1 ? 'receiver' : 'authority';
    const signed = ['-CA', String(n - 1), '-CAkey', 'key', '-set_serial', String(n), '-days', '9'];
    openssl('req', '-new', '-key', 'key', '-subj', `/CN=${n}`, '-out', 'request');
    openssl('x509', '-req', '-in', 'request', ...signed, '-extfile', extensions, '-out', String(n));
  }
  const cert = Array.from({ length: certificates }, (_, n) => read(String(certificates - 1 - n))).join('');
  return { key: read('key'), cert, rootFile: join(folder, '0') };
}

/** Ends each connection, so that each notification costs a handshake. */
async function startReceiver(chain: { key: string; cert: string }) {
  let handshakes = 0;
  const server = createServer(chain, (request, response) => {
    request.resume();
    response.writeHead(204, { connection: 'close' }).end();
  });
  server.on('secureConnection', () => (handshakes += 1)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    handshakes: () => handshakes,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const dearHandshakes: Fault = {
  name: 'B23',
  promise:
    'ten webhooks of one shipper whose handshakes cost 0.15 s of CPU (97 certificates, trusted), an order every 5 s and five tests: order p50 of others ≤ 1.5 × that before, their notifications ≤ 1 s; /healthz ≤ 250 ms',
  workers: 2,
  inFlight: 0,
  inject: async ({ world, pause, note, mark }) => {
    const chain = makeChain();
    await replaceWorkers(world, { NODE_EXTRA_CA_CERTS: chain.rootFile });
    await sleep(settleMs);
    const receiver = await startReceiver(chain);
    const account = await registerAccount(world.service, 'dear@example.com');
    const ids: string[] = [];
    while (ids.length < webhooks)
      ids.push((await registerWebhook(account, `${receiver.url}/${ids.length}`)).webhookId);
    const health = probeHealth(world.service.url);
    mark(); // the chain is made by now
    let orders = 0;
    const order = () =>
      placeOrder(account, `dear-${orders}`).then(
        () => (orders += 1),
        () => undefined, // the figure below says so
      );
    const tests = ids.slice(0, 5).map((id) => account.call(`/v1/webhooks/${id}/test`, { body: {} }));
    void order();
    const ordering = setInterval(() => void order(), orderEveryMs);
    await pause(30_000);
    clearInterval(ordering);
    await Promise.all(tests);
    const { slowestMs, figures } = await health.stop();
    const handshakes = receiver.handshakes();
    const missing = Math.max(0, webhooks * orders - handshakes);
    note({ name: 'slowest /healthz', value: slowestMs, unit: 'ms', atMost: 250 });
    note({ name: 'handshakes', value: handshakes, unit: '', note: `${missing} fewer than notifications` });
    for (const figure of figures) note(figure);
    await removeShipper(world, account);
    receiver.close();
  },
  figures: (outcome) => [
    notAccepted(outcome),
    orderSlowdown(outcome, 1.5, outcome.marks[0]),
    othersArriveWithin(outcome, 1_000, outcome.marks[0]),
  ],
};

export const handshakeFaults: Fault[] = [dearHandshakes];
