/** Receivers on loopback, as a process of their own: the parent gets the port by IPC. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How they behave; the path of a webhook's address begins with it. */
const answers = {
  well: { status: 200, afterMs: 80 },
  slow: { status: 200, afterMs: 6_000 },
  failing: { status: 500, afterMs: 15 },
  gone: { status: 410, afterMs: 15 },
};
export type Answering = keyof typeof answers;

const server = createServer((request, response) => {
  const [, behaviour] = (request.url ?? '').split('/');
  const { status, afterMs } = answers[behaviour as Answering] ?? answers.well;
  request.resume();
  setTimeout(() => response.writeHead(status).end('ok'), afterMs);
});
process.on('disconnect', () => process.exit(0)); // the parent is gone
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
