/** A body as software prints or encodes its bytes, and the way back to its text. */

import { textOfBase64, textOfBytes } from './pasted.js';

export interface Step {
  change: string;
  undo(text: string): string | null;
}

export const decoders: Step[] = [
  { change: 'it is written in Base64: decode it first', undo: (text) => ofEncoded(text, ofBase64) },
  { change: 'it is written as numbers: take the bytes', undo: (text) => ofEncoded(text, ofNumbers) },
  { change: 'it is a hex dump: take the bytes themselves', undo: (text) => ofEncoded(text, ofDump) },
  { change: 'it is URL-encoded: decode it first', undo: (text) => ofEncoded(text, ofUrlEncoded) },
  { change: 'it is written in quotation marks, with its bytes escaped', undo: ofPython },
];

/** The text that printed or encoded bytes stand for; null if `given` is neither. */
export function decodedBody(given: string): string | null {
  const inJson = ofJsonString(given);
  for (const { undo } of decoders) {
    const decoded = undo(inJson ?? given);
    if (decoded !== null) return decoded;
  }
  return inJson;
}

/** Says why a body cannot be read. `text`: one that no step makes readable. */
export function whyUnread(text: string): string {
  if (isDump.test(text)) return 'part of the dump is missing, or its bytes are not in hexadecimal';
  const read = decodedBody(text) ?? text;
  if (isShortened.test(read) || (isBeginning.test(read) && !/\}\s*$/.test(read))) return 'it is cut off';
  return 'it is neither a JSON object nor a known dump or encoding of one';
}

/** Node prints the first 50 bytes of a Buffer and the first 100 of a Uint8Array. */
const isShortened = /\d more (?:bytes?>|items?\s*\])\s*$/;
/** The beginning of JSON: plain, in Base64, in hexadecimal, or URL-encoded. */
const isBeginning = /^(?:data:[^,]*,)?[\s"']*(?:\{\s*"|eyJ|7b[\s:-]*22|%7b)/i;

export function ofJsonString(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

/** A decoded text counts if it looks like a notification. */
function ofEncoded(text: string, decode: (text: string) => string | null): string | null {
  const decoded = /^\s*[{"\uFEFF]/.test(text) && !ofBytes.test(text) ? null : decode(text.trim());
  return decoded !== null && isObjectText.test(decoded) ? decoded : null;
}

const isObjectText = /^\s*\{/;

/** A Buffer or a Uint8Array as JSON, or a text whose quotation marks are URL-encoded. */
const ofBytes = /"Buffer"|^\s*\{(?:"0":|%22)/;

function ofBase64(text: string): string | null {
  const base64 = text.replace(/^data:[^,]*;base64,/i, '');
  return /^[\w+/=\s-]+$/.test(base64) ? textOfBase64(base64) : null;
}

/** Also decodes the value of a form, where `+` is a space, and a data: URI. */
function ofUrlEncoded(text: string): string | null {
  if (!/^data:|%22/i.test(text)) return null;
  const bare = text.replace(/^data:[^,]*,|^[\w.-]+=|=$/gi, '');
  try {
    return decodeURIComponent(/[:,]|%20/.test(bare) ? bare : bare.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/**
 * Decodes hexadecimal, also as `<Buffer 7b 22 …>`, or a list of numbers. Those of Java are signed; those of Go and of
 * `xxd -i` are hexadecimal.
 */
function ofNumbers(text: string): string | null {
  const list =
    /^(?:\{"type":\s*"Buffer",\s*"data":\s*|(?:unsigned char \w+)?[\w\s[\]()&!=.]{0,24}?)(?:[[{(]|<<)([-\da-fx,\s]+)(?:[\]})]+|>>)(?:;[^]*)?$/i.exec(
      text.replace(/"\d+":/g, ''),
    )?.[1];
  if (list !== undefined)
    return textOfBytes(
      list
        .split(/[,\s]+/)
        .filter(Boolean)
        .map((number) => Number(number) & 0xff),
    );
  return textOfHex(text.replace(/^<Buffer\s|^X?'|[>']$|0x|\\x|[\s:,-]/gi, ''));
}

function textOfHex(hex: string): string | null {
  if (hex.length % 2 !== 0 || !/^[\da-f]+$/i.test(hex)) return null;
  return textOfBytes(
    Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16)),
  );
}

const isDump = /^[ \t>]*(?:0x)?0[\da-f]{3,15}:?\s/im;
/** An offset and the rest: groups of digits, then the characters, after a bar, `>` or two spaces. */
const rowOfDump = /^[\s>]*(?:0x)?([\da-f]{4,16}):?(?:\s+(.*))?$/i;
const isRepeat = /^[\s>]*\*\s*$/;

interface Row {
  offset: string;
  /** Each has an even number of hexadecimal digits. */
  groups: string[];
  /** Whether a `*` after it stands for more rows like it. */
  isRepeated: boolean;
}

/**
 * The rows that `xxd`, `hexdump`, `od` or Wireshark print: from the first offset on, up to the first line that belongs to
 * no dump.
 */
function rowsOf(text: string): Row[] {
  const start = isDump.exec(text)?.index;
  const rows: Row[] = [];
  if (start === undefined) return rows;
  for (const line of text.slice(start).split(/\r\n|[\n\r\u2028\u2029]/)) {
    const [, offset, rest = ''] = rowOfDump.exec(line) ?? [];
    const last = rows.at(-1);
    if (isRepeat.test(line) && last) last.isRepeated = true;
    else if (offset !== undefined) rows.push({ offset, groups: groupsIn(rest), isRepeated: false });
    else if (line.trim() !== '') break;
  }
  return rows;
}

function groupsIn(rest: string): string[] {
  const [digits] = rest.split(/\s{3}|[|>]/, 1);
  const groups = digits!.split(/\s+/);
  const end = groups.findIndex((group) => !/^(?:[\da-f]{2})+$/i.test(group));
  return end < 0 ? groups : groups.slice(0, end);
}

/** Offsets are hexadecimal, decimal or octal; `hexdump` and `xxd -e` reverse the bytes of each group. */
function ofDump(text: string): string | null {
  const rows = rowsOf(text);
  for (const base of [16, 10, 8]) {
    const groups = groupsOf(rows, base);
    if (groups === null) continue;
    // `hexdump` puts a zero after an odd last byte: it is cut off.
    const end = rows.at(-1)!.groups.length > 0 ? Infinity : 2 * Number.parseInt(rows.at(-1)!.offset, base);
    for (const turn of [(group: string) => group, turned]) {
      const decoded = textOfHex(groups.map(turn).join('').slice(0, end));
      if (decoded !== null && isObjectText.test(decoded)) return decoded;
    }
  }
  return null;
}

const turned = (group: string): string => group.match(/../g)!.reverse().join('');

const sizeOf = (groups: string[]): number => groups.join('').length / 2;

/** The most bytes that a notification has: repeated rows could stand for any number. */
const maxBytesOfDump = 262_144;

/** All groups of a dump; null if its offsets do not fit them. */
function groupsOf(rows: Row[], base: number): string[] | null {
  const offsets = rows.map(({ offset }) => Number.parseInt(offset, base));
  if (offsets.length === 0 || !offsets.every((offset) => offset <= maxBytesOfDump)) return null;
  const width = rows[0]!.isRepeated ? sizeOf(rows[0]!.groups) : (offsets[1] ?? Infinity);
  const all: string[][] = [];
  let size = 0;
  for (const [at, row] of rows.entries()) {
    const isEnd = row.groups.length === 0 && at === rows.length - 1;
    if (offsets[at] !== size && !(isEnd && offsets[at] === size - 1)) return null;
    const groups: string[] = [];
    let bytes = 0; // the characters beside them may look like digits
    for (let next; bytes < width && (next = row.groups[groups.length]); bytes += next.length / 2)
      groups.push(next);
    const times = row.isRepeated ? (offsets[at + 1]! - size) / bytes : 1;
    if (!Number.isInteger(times) || times < 1) return null;
    for (let time = 0; time < times; time += 1) all.push(groups);
    size += times * bytes;
  }
  return all.flat();
}

/** `b'{"state": …}'`, and without the `b` as Ruby and PHP print it. */
function ofPython(text: string): string | null {
  const quoted = /^\s*(?:bytearray\(|string\(\d+\)\s*)?b?(["'])([^]*)\1\)?\s*$/.exec(text)?.[2];
  if (quoted === undefined) return null;
  const bytes = Array.from(quoted.matchAll(/\\(?:x([\da-f]{2})|(.))|[^\\]+/gi), ([plain, hex, sign]) =>
    hex === undefined
      ? [...new TextEncoder().encode(sign === undefined ? plain : (escapesOfPython[sign] ?? sign))]
      : [Number.parseInt(hex, 16)],
  );
  return textOfBytes(bytes.flat());
}

const escapesOfPython: Record<string, string> = { n: '\n', r: '\r', t: '\t' };
