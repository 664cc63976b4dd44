/** The forms that software writes JSON in, and the way back to the bytes that were sent. */

import { decoders, ofJsonString, type Step } from './encoded.js';

interface OriginalBody {
  text: string;
  /** Each step that changed the text, in order. */
  changes(): string[];
}

interface Source {
  text: string;
  changes: string[];
}

const steps: Step[] = [
  { change: 'a byte order mark was put before it', undo: (text) => replaced(text, /^\uFEFF/, '') },
  { change: 'it was written as a JSON string', undo: ofJsonString },
  ...decoders,
  { change: 'its line endings became CRLF', undo: (text) => replaced(text, /\r\n/g, '\n') },
  { change: 'white space was added at its end', undo: (text) => text.trimEnd() },
  { change: 'white space was added at its start', undo: (text) => text.trimStart() },
  { change: 'it was escaped for HTML', undo: (text) => replaced(text, /&(#?\w+);/g, ofEntity) },
  { change: 'it was read as Latin-1 and written as UTF-8', undo: ofLatin1 },
  { change: 'its accents were composed (Unicode NFC)', undo: (text) => normalized(text, 'NFD') },
  { change: 'its accents were decomposed (Unicode NFD)', undo: (text) => normalized(text, 'NFC') },
];

/** Enough for every pair of steps that a text can show signs of. */
const maxTexts = 32;
/** The bound of all texts together: a notification of 256 KiB gets six, a usual one as many as it shows signs of. */
const maxCharacters = 1_572_864;

/**
 * Every text that may have been sent, most likely first: the given one, with steps undone, and each of these as the
 * service writes its content.
 */
export function possibleOriginals(given: string): OriginalBody[] {
  const sources = new Map<string, Source[]>();
  const texts: Source[] = [];
  let characters = 0;
  const add = (source: Source) => {
    if (sources.has(source.text) || (texts.length > 0 && characters > maxCharacters - source.text.length))
      return;
    characters += source.text.length;
    sources.set(source.text, [source]);
    texts.push(source);
  };
  add({ text: given, changes: [] });
  for (const { change, undo } of steps) {
    for (const { text, changes } of texts.slice(0, maxTexts)) {
      const undone = undo(text);
      if (undone !== null) add({ text: undone, changes: [change, ...changes] });
    }
  }
  for (const each of texts) {
    for (const form of serviceForms(each.text)) sources.set(form, [...(sources.get(form) ?? []), each]);
  }
  return [...sources].map(([text, from]) => ({ text, changes: () => changesOf(text, from) }));
}

function changesOf(original: string, sources: Source[]): string[] {
  for (const { text, changes } of sources) {
    if (text === original) return changes;
    const way = howWritten(text, original);
    if (way !== null) return [way, ...changes];
  }
  return ['its JSON was written again', ...sources[0]!.changes];
}

/** Whether the text, as it is or with steps undone, has the content of a notification. */
export const isReadable = (text: string): boolean =>
  possibleOriginals(text).some((original) => serviceForm(original.text) !== null);

/** Whether the service could have sent these bytes. */
export const isServiceForm = (text: string): boolean => serviceForms(text).includes(text);

export const serviceForm = (text: string): string | null => serviceForms(text)[0] ?? null;

/**
 * Bodies that the service never sends: something has read the stream before, or written an object without its content.
 */
export const isConsumed = (text: string): boolean =>
  ['', '{}', '[]', '""', 'null', 'undefined', '[object Object]', '{"type":"Buffer","data":[]}'].includes(
    text.trim(),
  );

type Json = Record<string, unknown>;

/**
 * Texts as the service writes them: a notification's fields in its order, those that were left out put back; compact;
 * and as PostgreSQL writes a notice. There is none if the content is nested too deep to be written.
 */
export function serviceForms(text: string): string[] {
  try {
    const value = parsedObject(text);
    return value ? writtenForms(value) : [];
  } catch {
    return [];
  }
}

function writtenForms(value: Json): string[] {
  const forms = [JSON.stringify(value)];
  if ('tracking_id' in value) {
    const { state, label_id, tracking_id, shipper_tracking_id, timestamp } = value;
    const { anomalies = null, evidences = [], lat = null, lng = null } = value;
    const first = { state, label_id: label_id ?? shipper_tracking_id, anomalies, evidences };
    forms.push(JSON.stringify({ ...first, tracking_id, shipper_tracking_id, timestamp, lat, lng }));
  }
  if ('webhook_id' in value) {
    const names = ['state', 'webhook_id', 'target_address', 'reason', 'timestamp'];
    const fields = names.map((name) => `${JSON.stringify(name)} : ${JSON.stringify(value[name] ?? null)}`);
    forms.push(`{${fields.join(', ')}}`);
  }
  return forms;
}

function parsedObject(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const ascii = (text: string): string => text.replace(/[\u007F-\uFFFF]/g, escaped);

const orders: [name: string, sort: ((one: string, other: string) => number) | null][] = [
  ['', null],
  [', keys sorted', (one, other) => (one < other ? -1 : 1)],
  [
    ', keys in the order of PostgreSQL’s jsonb',
    (one, other) => one.length - other.length || (one < other ? -1 : 1),
  ],
];

const layouts: [name: string, write: (value: unknown) => string][] = [
  ['without spaces', (value) => JSON.stringify(value)],
  ['indented by 2 spaces', (value) => JSON.stringify(value, null, 2)],
  ['indented by 4 spaces', (value) => JSON.stringify(value, null, 4)],
  ['indented by tabs', (value) => JSON.stringify(value, null, '\t')],
  ['with a space after `,` and `:`, as Python’s json.dumps does', withSpaces],
];

const escapes: [name: string, escape: (text: string) => string][] = [
  ['', (text) => text],
  [', letters beyond ASCII as \\u…', ascii],
  [', slashes as \\/', (text) => text.replaceAll('/', '\\/')],
  [
    ', slashes as \\/ and letters beyond ASCII as \\u…, as PHP does',
    (text) => ascii(text.replaceAll('/', '\\/')),
  ],
  [', < > & as \\u…, as Go does', (text) => text.replace(/[<>&\u2028\u2029]/g, escaped)],
];

/** The way in which `text` was written from the content of `original`; null if it is not a known one. */
function howWritten(text: string, original: string): string | null {
  const value = parsedObject(original);
  // Sorting leaves the length as it is, and an escape makes it longer.
  const escapedLength = occurrences(text, /\\\//g) + 5 * occurrences(text, /\\u/g);
  const fitting = layouts.filter(([, write]) => {
    const more = text.length - write(value).length;
    return more >= 0 && more <= escapedLength;
  });
  if (fitting.length === 0) return null;
  for (const [order, sort] of orders) {
    const sorted = sort ? withSortedKeys(value, sort) : value;
    for (const [layout, write] of fitting) {
      const written = write(sorted);
      for (const [escaping, escape] of escapes)
        if (escape(written) === text) return `its JSON was written again ${layout}${order}${escaping}`;
    }
  }
  return null;
}

const occurrences = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

function withSortedKeys(value: unknown, sort: (one: string, other: string) => number): unknown {
  if (Array.isArray(value)) return value.map((each) => withSortedKeys(each, sort));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => sort(one, other));
  return Object.fromEntries(entries.map(([key, each]) => [key, withSortedKeys(each, sort)]));
}

function withSpaces(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(withSpaces).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${withSpaces(each)}`);
  return `{${entries.join(', ')}}`;
}

const replaced = (text: string, pattern: RegExp, by: string | ((...parts: string[]) => string)) =>
  text.replace(pattern, by as string);

/** Engines sort the marks on a letter in the square of the time; no language has so many. */
const normalized = (text: string, form: 'NFC' | 'NFD'): string | null =>
  /\p{Mn}{100}/u.test(text) ? null : text.normalize(form);

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00A0' };

function ofEntity(whole: string, name: string): string {
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  if (!name.startsWith('#')) return entities[name] ?? whole;
  return code >= 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
}

function ofLatin1(text: string): string | null {
  if (!/[\u0080-\u00FF]/.test(text) || /[^\0-\u00FF]/.test(text)) return null;
  try {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

export interface Difference {
  offset: number;
  /** The text around this position, of the given body and of the one that was sent. */
  given: string;
  sent: string;
}

const before = 12;
const after = 24;

/** The first byte that differs; null if there is none. */
export function firstDifference(given: Uint8Array, sent: Uint8Array): Difference | null {
  let offset = 0;
  while (offset < given.length && offset < sent.length && given[offset] === sent[offset]) offset += 1;
  if (offset === given.length && offset === sent.length) return null;
  const excerpt = (bytes: Uint8Array) =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      bytes.subarray(Math.max(0, offset - before), offset + after),
    );
  return { offset, given: excerpt(given), sent: excerpt(sent) };
}
