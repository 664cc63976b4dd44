/** A line of a file; `bytes` is null if it was longer than allowed. `endByte` is how far the file is read. */
export interface Line {
  number: number;
  bytes: Buffer | null;
  endByte: number;
}

/** Splits a stream into lines. Holds one line of at most `maxBytes`, whatever the size of the file. */
export async function* readLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line> {
  let number = 0;
  let endByte = 0;
  let size = 0;
  let parts: Buffer[] = [];

  function keep(part: Buffer) {
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
      keep(chunk.subarray(from, end));
      endByte += 1;
      yield take();
      from = end + 1;
    }
    keep(chunk.subarray(from));
  }
  if (size > 0) yield take();
}

/** An event as it stands in the file, or what is wrong with its line. */
export type Item =
  { line: number; json: string; sizeBytes: number; hasEventId: boolean } | { line: number; problem: string };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** What a line holds; null if it is blank. What the event must have is for the service to say. */
export function parseLine({ number: line, bytes }: Line): Item | null {
  if (bytes === null) return { line, problem: 'is too long for one request' };
  let json: string;
  try {
    json = utf8.decode(bytes).trim();
  } catch {
    return { line, problem: 'is not UTF-8' };
  }
  if (json === '') return null;
  try {
    const event: unknown = JSON.parse(json);
    if (typeof event !== 'object' || event === null || Array.isArray(event)) {
      return { line, problem: 'must be a JSON object' };
    }
    const hasEventId = 'eventId' in event && typeof event.eventId === 'string' && event.eventId !== '';
    return { line, json, sizeBytes: Buffer.byteLength(json), hasEventId };
  } catch (error) {
    return { line, problem: `is not JSON: ${(error as Error).message}` };
  }
}
