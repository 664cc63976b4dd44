/**
 * A receiver that is never the bottleneck, in its own process: it speaks just enough HTTP/1.1 and remembers when
 * each tracking id arrived. The first segment of the path decides its answer: `hang` never answers, `endless` sends
 * a body without end, `long` 4 KiB and closes the connection, any other answers 200 at once. The parent asks over IPC.
 */
import { createServer, type Socket } from 'node:net';

const answer = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
const long = Buffer.from(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'x'.repeat(4096)}`);
const piece = Buffer.alloc(64 * 1024, 'x');
/** By path and tracking id. */
const arrivals = new Map<string, number>();
const receivedOf = new Map<string, number>();
/** Those left without an answer. */
const hanging = new Set<Socket>();
let received = 0;
let lastAt = 0;

const kindOf = (path: string) => path.split('/')[1] ?? '';

function reply(kind: string, socket: Socket): void {
  if (kind === 'endless') pour(socket);
  else if (kind === 'long') socket.end(long);
  else if (kind === 'hang') hanging.add(socket);
  else socket.write(answer);
}

function pour(socket: Socket): void {
  const more = () => {
    while (socket.writable && socket.write(piece));
  };
  socket.on('drain', more).write('HTTP/1.1 200 OK\r\n\r\n');
  more();
}

const server = createServer({ noDelay: true }, (socket) => {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('close', () => hanging.delete(socket));
  socket.on('data', (chunk: Buffer) => {
    let data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (;;) {
      const headEnd = data.indexOf('\r\n\r\n');
      if (headEnd < 0) break;
      const head = data.toString('latin1', 0, headEnd);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      const end = headEnd + 4 + length;
      if (data.length < end) break;
      const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' ', 5));
      note(path, data.toString('latin1', headEnd + 4, end));
      reply(kindOf(path), socket);
      data = data.subarray(end);
    }
    rest = data;
  });
});

function note(path: string, body: string): void {
  received += 1;
  const kind = kindOf(path);
  receivedOf.set(kind, (receivedOf.get(kind) ?? 0) + 1);
  lastAt = performance.timeOrigin + performance.now();
  const start = body.indexOf('"tracking_id":"') + 15;
  const key = `${path} ${body.slice(start, body.indexOf('"', start))}`;
  if (!arrivals.has(key)) arrivals.set(key, lastAt);
}

process.on('message', (question: 'count' | 'arrivals' | 'reset' | { countOf: string }) => {
  if (typeof question === 'object')
    process.send?.({ received: receivedOf.get(question.countOf) ?? 0, lastAt });
  if (question === 'count') process.send?.({ received, lastAt });
  if (question === 'arrivals') process.send?.([...arrivals]);
  if (question === 'reset') {
    received = 0;
    receivedOf.clear();
    arrivals.clear();
    for (const socket of hanging) socket.destroy();
    process.send?.({ received, lastAt });
  }
});

process.on('disconnect', () => process.exit(0)); // the parent is gone
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
