import * as z from 'zod';
import { Refused, type OperatorClient } from '../client.js';
import { parseLine, readLines, type Item } from '../lines.js';

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

/** What became of one line: the id of the recorded event or why there is none. */
export type LineResult = { line: number } & ({ eventId: string } | { error: z.output<typeof errorShape> });

export interface LoadDependencies {
  client: Pick<OperatorClient, 'post'>;
  chunks: AsyncIterable<Buffer>;
  /** Called once per line that is not blank, in the file's order. */
  report(result: LineResult): Promise<void>;
  /** Called after every batch. */
  onProgress(readBytes: number): void;
}

type Event = Extract<Item, { json: string }>;
const isEvent = (item: Item): item is Event => 'json' in item;

/** Sends a file of events, one JSON object a line, in batches one after the other: a shipment's order is kept. */
export async function loadEvents({ client, chunks, report, onProgress }: LoadDependencies): Promise<void> {
  let batch: Item[] = [];
  let batchBytes = 0;
  const roomBytes = maxBodyBytes - open.length - close.length;

  async function flush() {
    await send(client, batch, report);
    batch = [];
    batchBytes = 0;
  }

  for await (const line of readLines(chunks, roomBytes)) {
    const item = parseLine(line);
    if (item === null) continue;
    const itemBytes = isEvent(item) ? item.sizeBytes + 1 : 0; // with its comma
    if (batch.length === maxEvents || batchBytes + itemBytes > roomBytes) {
      await flush();
      onProgress(line.endByte);
    }
    batch.push(item);
    batchBytes += itemBytes;
  }
  await flush();
}

/**
 * Sends one batch and reports its lines. The service refuses a body as a whole for one event it cannot even read;
 * nothing of it is recorded then, so that halving finds that event and the others get in.
 */
async function send(client: LoadDependencies['client'], items: Item[], report: LoadDependencies['report']) {
  const events = items.filter(isEvent);
  let results: z.output<typeof outcomes>['results'];
  try {
    results = events.length > 0 ? await post(client, events) : [];
  } catch (error) {
    if (!isAboutContent(error)) throw error;
    if (events.length > 1) {
      const half = items.length >> 1;
      await send(client, items.slice(0, half), report);
      await send(client, items.slice(half), report);
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
    await report({ line: item.line, ...outcome });
  }
}

async function post(client: LoadDependencies['client'], events: Event[]) {
  const json = open + events.map((event) => event.json).join(',') + close;
  const repeatable = events.every((event) => event.hasEventId);
  const data = await client.post('/operator/v1/events', json, { repeatable, timeoutMs });
  const parsed = outcomes.safeParse(data);
  if (parsed.success && parsed.data.results.length === events.length) return parsed.data.results;
  throw new Refused(
    'The service did not answer with one result per event. Are its version and this one alike?',
  );
}

/** The request had one event only: `events.0.lat` is its `lat`. */
const withoutPosition = ({ path, message }: { path: string; message: string }) => ({
  path: path.replace(/^events(\.0|\[0\])\./, ''),
  message,
});

const isAboutContent = (
  error: unknown,
): error is Refused & { code: string; error: NonNullable<Refused['error']> } =>
  error instanceof Refused && ['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE'].includes(error.code ?? '');
