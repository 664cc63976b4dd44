import { StringDecoder } from 'node:string_decoder';

const KEPT_BYTES = 4 * 1024;
/** Nearly every answer is shorter; of an endless one, what is read is garbage faster than it is collected. */
export const READ_BYTES = 8 * 1024;

export interface BodyHead {
  /** False as soon as no more is to be read. */
  add(chunk: Buffer): boolean;
  text(): string;
}

/** The head of a response body: 8 KiB are read, so that the connection can be used again, 4 KiB are kept. */
export function createBodyHead(): BodyHead {
  const kept: Buffer[] = [];
  let readBytes = 0;
  return {
    add(chunk) {
      if (readBytes < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - readBytes));
      readBytes += chunk.length;
      return readBytes < READ_BYTES;
    },
    text() {
      const head = kept.length === 1 ? kept[0]! : Buffer.concat(kept);
      // A character that the cut went through is left out; PostgreSQL has no NUL in text.
      const text = readBytes > KEPT_BYTES ? new StringDecoder('utf8').write(head) : head.toString('utf8');
      return text.replaceAll('\0', '');
    },
  };
}
