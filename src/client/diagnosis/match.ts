import { possibleOriginals } from './body.js';
import { finding, isMilliseconds, type Finding } from './finding.js';
import { bytesOf, type RawBody } from '../signed-request.js';
import type { SecretReading } from './secret.js';

/** HMAC-SHA256 of a notification by WebCrypto, which browsers have, too. */
export interface Signed {
  key: Uint8Array<ArrayBuffer>;
  /** `<webhook-id>.<webhook-timestamp>.` */
  prefix: string;
  body: Uint8Array;
}

export async function digestOf({ key, prefix, body }: Signed): Promise<string> {
  const { subtle } = globalThis.crypto;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await subtle.importKey('raw', key, algorithm, false, ['sign']);
  const start = new TextEncoder().encode(prefix);
  const content = new Uint8Array(start.length + body.length);
  content.set(start);
  content.set(body, start.length);
  const digest = new Uint8Array(await subtle.sign('HMAC', imported, content));
  return btoa(String.fromCharCode(...digest));
}

interface Original {
  bytes: Uint8Array;
  changes(): string[];
}

export interface Body {
  bytes: Uint8Array;
  text: string;
  originals(): Original[];
}

export function readBody(rawBody: RawBody): Body {
  const encoder = new TextEncoder();
  const bytes = bytesOf(rawBody);
  const { text, changes: first } = readText(bytes);
  const originals = () =>
    possibleOriginals(text).map((original) => ({
      bytes: encoder.encode(original.text),
      changes: () => [...original.changes(), ...first],
    }));
  return { bytes, text, originals };
}

function readText(bytes: Uint8Array): { text: string; changes: string[] } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), changes: [] };
  } catch {
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
    return { text, changes: ['it was written as Latin-1'] };
  }
}

interface SignedStart {
  /** `<webhook-id>.<webhook-timestamp>.` */
  prefix: string;
  fault: Finding | null;
}

/** An id has at most 255 characters. */
const maxPrefixCharacters = 1_024;

/** All that may have been signed before the body: the headers as given, mixed, or put right. */
export function possibleStarts(ids: string[], timestamps: string[]): SignedStart[] {
  const start = (id: string, timestamp: string, fault: Finding | null): SignedStart => ({
    prefix: `${id}.${timestamp}.`,
    fault,
  });
  const mixed = ids.flatMap((id, i) =>
    timestamps.map((timestamp, t) =>
      start(id, timestamp, i + t === 0 ? null : finding('OTHER_DELIVERY', true)),
    ),
  );
  const [timestamp] = timestamps;
  if (timestamp === undefined) return [];
  const inSeconds = isMilliseconds(timestamp)
    ? ids.map((id) => start(id, timestamp.slice(0, -3), null)) // `wrongTime` reports it
    : [];
  const putRight = ids.flatMap((id) =>
    [
      id.trim(),
      id.toLowerCase(),
      id.toUpperCase(),
      id.replace(/^["'<{]+|(?<!["'>}])["'>}]+$/g, ''),
      withDashes(id),
    ]
      .filter((other) => other !== id)
      .map((other) => start(other, timestamp, finding('ID_ALTERED', true))),
  );
  return [...mixed, ...inSeconds, ...putRight].filter(
    ({ prefix }, place) => place === 0 || prefix.length <= maxPrefixCharacters,
  );
}

const withDashes = (id: string): string =>
  id
    .replace(/^([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})$/i, '$1-$2-$3-$4-$5')
    .toLowerCase();

export interface Match {
  reading: SecretReading;
  start: SignedStart;
  original: Original;
  /** The position of the matching signature among those given, from 0. */
  place: number;
  signed: Signed;
}

/** The bound of all that is signed in a search, together: a body of 2 KiB may be signed in 12,000 ways. */
const maxSignedBytes = 25_165_824;

/** The combination of the fewest faults with which a signature matches; null if none of those tried does. */
export async function findMatch(
  starts: SignedStart[],
  readings: SecretReading[],
  body: Body,
  digests: string[],
): Promise<Match | null> {
  if (digests.length === 0) return null;
  let signedBytes = 0;
  for (const [original, start] of byFaults(body, starts)) {
    for (const reading of readings) {
      if (!reading.key) continue;
      signedBytes += start.prefix.length + original.bytes.length;
      if (signedBytes > maxSignedBytes) return null;
      const signed = { key: reading.key, prefix: start.prefix, body: original.bytes };
      const place = digests.indexOf(await digestOf(signed));
      if (place >= 0) return { reading, start, original, place, signed };
    }
  }
  return null;
}

/** Every pair of a body and a start: first those in which the body or the start is as given. */
function* byFaults(body: Body, [first, ...others]: SignedStart[]): Generator<[Original, SignedStart]> {
  if (first === undefined) return;
  const given: Original = { bytes: body.bytes, changes: () => [] };
  yield [given, first];
  const originals = body.originals(); // trying bodies takes long, and the body is usually as it was sent
  for (const original of originals) yield [original, first];
  for (const start of others) yield [given, start];
  for (const original of originals) for (const start of others) yield [original, start];
}
