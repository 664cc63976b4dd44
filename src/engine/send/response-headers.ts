import { masked } from './sealing.js';
import type { FlatHeaders } from './headers.js';

/** The bound for all headers as shown: each counts its name, its value and four bytes, as on the wire. */
const maxShownBytes = 4 * 1024;
const framingBytes = 4;

const dateName = 'date';
/**
 * Frequent headers, each by a letter, which alone means the value given here. The log holds these letters, so none may
 * change its meaning. No letter can be confused with a name: names are stored in lower case.
 */
const frequent: [letter: string, name: string, value: string][] = [
  ['A', 'cache-control', 'no-cache'],
  ['B', 'x-powered-by', 'Express'],
  ['C', 'connection', 'keep-alive'],
  ['D', dateName, ''],
  ['E', 'transfer-encoding', 'chunked'],
  ['F', 'x-frame-options', 'SAMEORIGIN'],
  ['G', 'etag', ''],
  ['H', 'strict-transport-security', 'max-age=31536000; includeSubDomains'],
  ['I', 'x-request-id', ''],
  ['K', 'keep-alive', 'timeout=5'],
  ['L', 'content-length', '0'],
  ['N', 'x-content-type-options', 'nosniff'],
  ['O', 'access-control-allow-origin', '*'],
  ['R', 'retry-after', ''],
  ['S', 'server', 'nginx'],
  ['T', 'content-type', 'application/json'],
  ['V', 'vary', 'Accept-Encoding'],
  ['W', 'webhook-delivery', ''],
  ['X', 'set-cookie', masked],
  ['Y', 'alt-svc', 'h3=":443"; ma=86400'],
];
const byName = new Map(frequent.map(([letter, name, value]) => [name, { letter, value }]));
const byLetter = new Map(frequent.map(([letter, name, value]) => [letter, { name, value }]));

/**
 * The headers of a response as the log stores them: at most 4 KiB, names in lower case, repeated ones joined by commas
 * (RFC 9110, 5.3), the values of `set-cookie` masked. In the order in which they came, those that no longer fit are
 * left out whole. One line each: letter and value, or `name:value`. Null without a response.
 */
export function encodeResponseHeaders(raw: FlatHeaders | null, startedAt: Date): string | null {
  if (raw === null) return null;
  const lines: string[] = [];
  let leftBytes = maxShownBytes;
  for (const [name, joined] of byNameOf(raw)) {
    const value = name === 'set-cookie' ? masked : textOf(joined);
    const bytes = name.length + Buffer.byteLength(value) + framingBytes;
    if (bytes > leftBytes) continue;
    leftBytes -= bytes;
    lines.push(lineOf(name, value, startedAt));
  }
  return lines.join('\n');
}

function byNameOf(raw: FlatHeaders): Map<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    const before = headers.get(name);
    headers.set(name, before === undefined ? raw[at + 1]! : `${before}, ${raw[at + 1]!}`);
  }
  return headers;
}

/** Node gives a character per byte. As in the body: UTF-8 with replacement characters, and PostgreSQL's text has no NUL. */
const textOf = (bytes: string): string =>
  (/^[\x20-\x7e]*$/.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8')).replaceAll(
    /\p{Cc}/gu,
    ' ',
  );

function lineOf(name: string, value: string, startedAt: Date): string {
  const known = byName.get(name);
  const short = name === dateName ? secondsAfter(startedAt, value) : value === known?.value ? '' : value;
  return known && short !== null && (short !== '' || value !== '')
    ? known.letter + short
    : `${name}:${value}`;
}

const secondOf = (date: Date) => Math.floor(date.getTime() / 1_000);
const httpDate = (second: number) => new Date(second * 1_000).toUTCString();

/**
 * The seconds from the start of an attempt to a date: empty if there are none, null if the value is not a date in the
 * form that RFC 9110, 5.6.7 prefers.
 */
function secondsAfter(startedAt: Date, value: string): string | null {
  const second = Date.parse(value) / 1_000;
  if (!Number.isInteger(second) || httpDate(second) !== value) return null;
  return second === secondOf(startedAt) ? '' : String(second - secondOf(startedAt));
}

/** Decodes the stored headers: by name, in the order in which they came. */
export function decodeResponseHeaders(
  encoded: string | null,
  startedAt: Date,
): Record<string, string> | null {
  if (encoded === null) return null;
  const lines = encoded === '' ? [] : encoded.split('\n');
  return Object.fromEntries(lines.map((line) => headerOf(line, startedAt)));
}

function headerOf(line: string, startedAt: Date): [name: string, value: string] {
  const known = byLetter.get(line[0]!);
  const rest = line.slice(1);
  if (known?.name === dateName) return [dateName, httpDate(secondOf(startedAt) + Number(rest))];
  if (known) return [known.name, rest === '' ? known.value : rest];
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1)];
}
