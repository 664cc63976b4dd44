import * as z from 'zod';
import { Refused, type Send } from '../command.js';

const maxEvents = 1_000;
const maxBodyBytes = 256 * 1024;
const timeoutMs = 60_000;
const open = '{"events":[';
const close = ']}';

const errorShape = z.object({
  status: z.string(),
  message: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
const outcomes = z.object({
  results: z.array(z.union([z.object({ error: errorShape }), z.object({ eventId: z.string() })])),
});

/** `trackingId` is that of a shipment that was not found. */
export type LineResult = { line: number; trackingId?: string } & (
  { eventId: string } | { error: z.output<typeof errorShape> }
);

export interface LoadDependencies {
  send: Send;
  chunks: AsyncIterable<Buffer>;
  report(result: LineResult): Promise<void>;
  onProgress(doneBytes: number): void;
}

type Event = Extract<Item, { json: string }>;
const isEvent = (item: Item): item is Event => 'json' in item;

/** One JSON object per line. Batches are sequential, which preserves a shipment's order. */
export async function loadEvents({ send, chunks, report, onProgress }: LoadDependencies): Promise<void> {
  let batch: Item[] = [];
  let batchBytes = 0;
  const maxEventBytes = maxBodyBytes - open.length - close.length;

  async function flush() {
    await sendBatch(send, batch, report);
    if (batch.length > 0) onProgress(batch.at(-1)!.endByte);
    batch = [];
    batchBytes = 0;
  }

  for await (const line of readLines(chunks, maxEventBytes)) {
    const item = parseLine(line);
    if (item === null) continue;
    const itemBytes = isEvent(item) ? item.sizeBytes + 1 : 0; // with its comma
    if (batch.length === maxEvents || batchBytes + itemBytes > maxEventBytes) {
      await flush();
    }
    batch.push(item);
    batchBytes += itemBytes;
  }
  await flush();
}

/** The service refuses a body of too many values as a whole: halving isolates the event that has them. */
async function sendBatch(send: Send, items: Item[], report: LoadDependencies['report']) {
  const events = items.filter(isEvent);
  let results: z.output<typeof outcomes>['results'];
  try {
    results = events.length > 0 ? await post(send, events) : [];
  } catch (error) {
    if (!isAboutContent(error)) throw error;
    if (events.length > 1) {
      const half = items.length >> 1;
      await sendBatch(send, items.slice(0, half), report);
      await sendBatch(send, items.slice(half), report);
      return;
    }
    const { message, details } = error.error;
    results = [{ error: { status: error.code, message, details: details?.map(withoutPosition) } }];
  }
  const inOrder = results.values();
  for (const item of items) {
    const outcome = isEvent(item)
      ? inOrder.next().value!
      : { error: { status: 'INVALID_LINE', message: item.problem } };
    await report({ line: item.line, ...missingShipment(item, outcome), ...outcome });
  }
}

function missingShipment(item: Item, outcome: object): { trackingId?: string } {
  if (!isEvent(item) || !('error' in outcome)) return {};
  const { status } = outcome.error as { status: string };
  const { trackingId } = JSON.parse(item.json) as { trackingId?: unknown };
  return status === 'NOT_FOUND' && typeof trackingId === 'string' ? { trackingId } : {};
}

async function post(send: Send, events: Event[]) {
  const json = open + events.map((event) => event.json).join(',') + close;
  const repeatable = events.every((event) => event.hasEventId);
  const data = await send('post', '/operator/v1/events', { json, repeatable, timeoutMs });
  const parsed = outcomes.safeParse(data);
  if (parsed.success && parsed.data.results.length === events.length) return parsed.data.results;
  throw new Refused('The service did not return one result per event. Do its version and this one match?');
}

/** Details of a request with one event, whose `events.0.lat` is its `lat`. */
const withoutPosition = ({ path, message }: { path: string; message: string }) => ({
  path: path.replace(/^events(\.0|\[0\])\./, ''),
  message,
});

const isAboutContent = (
  error: unknown,
): error is Refused & { code: string; error: NonNullable<Refused['error']> } =>
  error instanceof Refused && ['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE'].includes(error.code ?? '');

/** `bytes` is null if the line is too long. `endByte` is the position in the file after the line. */
export interface Line {
  number: number;
  bytes: Buffer | null;
  endByte: number;
}

/** Buffers at most one line of `maxBytes`. */
export async function* readLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line> {
  let number = 0;
  let endByte = 0;
  let size = 0;
  let parts: Buffer[] = [];

  function append(part: Buffer) {
    endByte += part.length;
    size += part.length;
    if (size <= maxBytes) parts.push(part);
    else parts = [];
  }

  function take(): Line {
    const line = { number: ++number, bytes: size <= maxBytes ? Buffer.concat(parts) : null, endByte };
    size = 0;
    parts = [];
    return line;
  }

  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      append(chunk.subarray(from, end));
      endByte += 1;
      yield take();
      from = end + 1;
    }
    append(chunk.subarray(from));
  }
  if (size > 0) yield take();
}

/** An event as written in the file, or what is wrong with its line. */
type Item = { line: number; endByte: number } & (
  { json: string; sizeBytes: number; hasEventId: boolean } | { problem: string }
);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Null for a blank line. The service validates the event. */
function parseLine({ number: line, bytes, endByte }: Line): Item | null {
  const bad = (problem: string): Item => ({ line, endByte, problem });
  if (bytes === null) return bad('is too long for one request');
  let json: string;
  try {
    json = utf8.decode(bytes).trim();
  } catch {
    return bad('is not UTF-8');
  }
  if (json === '') return null;
  try {
    const event: unknown = JSON.parse(json);
    if (typeof event !== 'object' || event === null || Array.isArray(event)) {
      return bad('must be a JSON object');
    }
    const hasEventId = 'eventId' in event && typeof event.eventId === 'string' && event.eventId !== '';
    return { line, endByte, json, sizeBytes: Buffer.byteLength(json), hasEventId };
  } catch (error) {
    return bad(`is not JSON: ${(error as Error).message}`);
  }
}
