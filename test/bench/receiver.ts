/**
 * A receiver that is never the bottleneck, in its own process: it speaks just enough HTTP/1.1, answers 200 and
 * remembers when each tracking id arrived. The parent asks over IPC.
 */
import { createServer } from 'node:net';

const answer = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
const arrivals = new Map<string, number>();
let received = 0;
let lastAt = 0;

const server = createServer({ noDelay: true }, (socket) => {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    let data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (;;) {
      const headEnd = data.indexOf('\r\n\r\n');
      if (headEnd < 0) break;
      const head = data.toString('latin1', 0, headEnd);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      const end = headEnd + 4 + length;
      if (data.length < end) break;
      note(data.toString('latin1', headEnd + 4, end));
      socket.write(answer);
      data = data.subarray(end);
    }
    rest = data;
  });
});

function note(body: string): void {
  received += 1;
  lastAt = performance.timeOrigin + performance.now();
  const start = body.indexOf('"tracking_id":"') + 15;
  const trackingId = body.slice(start, body.indexOf('"', start));
  if (!arrivals.has(trackingId)) arrivals.set(trackingId, lastAt);
}

process.on('message', (question: 'count' | 'arrivals' | 'reset') => {
  if (question === 'count') process.send?.({ received, lastAt });
  if (question === 'arrivals') process.send?.([...arrivals]);
  if (question === 'reset') {
    received = 0;
    arrivals.clear();
    process.send?.({ received, lastAt });
  }
});

process.on('disconnect', () => process.exit(0)); // the parent is gone
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
