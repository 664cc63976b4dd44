/**
 * The receiver of the fault bench, in its own process: each response is in its journal, on disk, before it is sent.
 * `argv`: the journal's file. The parent sends the paths over IPC, and gets the port.
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { Entry } from '../model.js';

export interface PathOptions {
  path: string;
  secret: string;
  /** Share of the requests that get 503. */
  failing: number;
  respondAfterMs: number;
}

interface Pending {
  entry: Entry;
  response: ServerResponse;
}

const file = await open(process.argv[2] ?? '', 'a');
const paths = new Map<string, Omit<PathOptions, 'path' | 'secret'> & { webhook: Webhook }>();
let seed = 0;
let closes = false;
let pending: Pending[] = [];
let flushing = false;

/** Many requests share one fsync. */
async function flush(): Promise<void> {
  if (flushing) return;
  flushing = true;
  while (pending.length > 0) {
    const batch = pending;
    pending = [];
    await file.appendFile(batch.map(({ entry }) => `${JSON.stringify(entry)}\n`).join(''));
    await file.datasync();
    const headers = closes ? { connection: 'close' } : {};
    for (const { entry, response } of batch) response.writeHead(entry.statusCode, headers).end();
  }
  flushing = false;
}

/** In a hundred thousand notifications chance alone would use up a schedule. */
const maxFailuresInARow = 3;

/** The same for the same seed: `what` is named by the load, not by the service. */
function fails(path: string, what: string, attempt: number): boolean {
  if (attempt % (maxFailuresInARow + 1) === 0) return false;
  const share = paths.get(path)?.failing ?? 0;
  const digest = createHash('sha256').update(`${seed} ${path} ${what} ${attempt}`).digest();
  return digest.readUInt32BE(0) / 2 ** 32 < share;
}

/** The checker judges the clock difference. */
function verifies(path: string, body: string, headers: IncomingMessage['headers']): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures } = headers;
  const signed = new Date(Number(seconds) * 1_000);
  const expected = paths.get(path)?.webhook.sign(String(id), signed, body);
  return String(signatures).split(' ').includes(String(expected));
}

const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    const path = request.url ?? '';
    const { headers } = request;
    const notification = JSON.parse(body) as Record<'tracking_id' | 'shipper_tracking_id' | 'state', string>;
    const what = `${notification.shipper_tracking_id} ${notification.state}`;
    const id = String(headers['webhook-id']);
    const attempt = Number(headers['parcelhook-attempt']);
    const entry: Entry = {
      path,
      id,
      attempt,
      sequence: Number(headers['parcelhook-sequence']),
      trackingId: notification.tracking_id,
      state: notification.state,
      digest: createHash('sha256').update(body).digest('hex'),
      verified: verifies(path, body, headers),
      clockOffMs: Number(headers['webhook-timestamp']) * 1_000 - at,
      at,
      endedAt: Infinity,
      statusCode: fails(path, what, attempt) ? 503 : 200,
    };
    void sleep(paths.get(path)?.respondAfterMs ?? 0).then(() => {
      entry.endedAt = performance.timeOrigin + performance.now();
      pending.push({ entry, response });
      return flush();
    });
  });
});

process.on('message', (message: { seed: number; paths: PathOptions[]; closes: boolean }) => {
  ({ seed, closes } = message);
  for (const { path, secret, ...options } of message.paths)
    paths.set(path, { webhook: new Webhook(secret), ...options });
  process.send?.('ready');
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
