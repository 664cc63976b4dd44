import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import { ApiError, invalidRequest, type Detail, tooManyRequests } from '../../platform/errors.js';
import { chunksOf, maxChunks, minChunkBytes } from '../connections/small-chunks.js';
import { maxDetails, noFaults, type BodyFaults } from '../route.js';
import { jsonFault } from './json-fault.js';
import { whileReading } from './watch.js';

const maxBodyBytes = 256 * 1024;
/** A larger body takes milliseconds to parse and gets an event-loop tick of its own. */
const largeBytes = 16 * 1024;
const maxValues = 10_000;
const maxDepth = 32;
const maxNameLength = 100; // of a key in `details`
const jsonTypes = ['application/json', '+json'];
/** RFC 8259, 11: the parameter has no meaning. ASCII is UTF-8 as well. */
const otherCharset = /;\s*charset\s*=(?!\s*"?(?:utf-?8|(?:us-)?ascii)"?\s*(;|$))/i;
/** Fields that are stored and passed on as sent. */
const keptFields = new Set(['items', 'evidences', 'anomalies']);
const refusedKeys = new Set(['__proto__', 'constructor']);

/**
 * Reads a JSON body of at most 256 KiB and 10,000 values. `locals.countBytes` counts each chunk and may refuse it.
 * Content that PostgreSQL or JavaScript could not handle goes to `locals.bodyFaults`, to be reported together with all
 * other wrong fields (see `parseRequest`). A refused body is not read to its end.
 */
export function jsonBody(): RequestHandler {
  let lastTick: Promise<unknown> = Promise.resolve();
  const ownTick = () => (lastTick = lastTick.then(() => nextTick()));
  return async (request, response, next) => {
    const isJson = request.is(jsonTypes);
    if (!isJson && !hasBody(request)) return next();
    const compression = request.get('content-encoding') ?? 'identity';
    if (!isJson || otherCharset.test(request.get('content-type') ?? '') || !/^identity$/i.test(compression))
      throw new ApiError(
        415,
        'UNSUPPORTED_MEDIA_TYPE',
        `The body must be application/json in UTF-8, not compressed.${sentHeaders(request)}`,
      );
    if (Number(request.headers['content-length']) > maxBodyBytes) throw payloadTooLarge();
    const { countBytes } = response.locals as { countBytes(bytes: number): void };
    const bytes = await whileReading(response, () => readBytes(request, countBytes));
    if (bytes.length > largeBytes) await ownTick();
    const faults = noFaults();
    const { details } = faults.beside;
    if (!isUtf8(bytes)) details.push({ path: 'body', message: 'must be UTF-8' });
    if (hasMoreValues(bytes, maxValues))
      throw invalidRequest([{ path: 'body', message: 'must have at most 10,000 values' }]);
    const text = bytes.toString();
    request.body = parse(text, details);
    inspect(request.body, [], faults);
    if (request.body !== undefined) reportLostDigits(text, faults);
    response.locals.bodyFaults = faults;
    next();
  };
}

/** Reads a body that the route does not use: unread, it would stay in Node, an object for each chunk. */
export function unusedBody(): RequestHandler {
  return async (request, response, next) => {
    if (hasBody(request))
      await whileReading(response, () => readChunks(request, () => undefined, tooLargeUnused));
    next();
  };
}

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** The whole body. `count` is called with the bytes of each chunk, and may refuse it. */
export async function readBytes(request: Request, count: (bytes: number) => void): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  let length = 0;
  const take = (chunk: Buffer) => {
    count(chunk.length);
    const end = length + chunk.length;
    if (end > bytes.length) {
      const larger = Buffer.allocUnsafe(Math.min(maxBodyBytes, Math.max(end, 2 * bytes.length)));
      bytes.copy(larger, 0, 0, length);
      bytes = larger;
    }
    length += chunk.copy(bytes, length); // the chunk itself would keep all that was read with it
  };
  try {
    await readChunks(request, take);
    return bytes.subarray(0, length);
  } finally {
    bytes = Buffer.alloc(0); // frees the bytes: after a refusal the request keeps the error, and the error this function's variables
  }
}

/**
 * Resolves at the end of the body. Rejects with ApiError if it is too large, comes in too small chunks or breaks off, or
 * with what `take` throws; then the rest is not read.
 */
function readChunks(
  request: Request,
  take: (chunk: Buffer) => void,
  tooLarge = payloadTooLarge,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let length = 0;
    const chunks = chunksOf(request);
    const settle = () => {
      request.off('data', add).off('end', end).off('close', breakOff);
      if (chunks) chunks.onCut = undefined;
    };
    const refuse = (error: Error) => {
      settle();
      request.pause();
      reject(error);
    };
    const add = (chunk: Buffer) => {
      length += chunk.length;
      try {
        if (length > maxBodyBytes) throw tooLarge();
        take(chunk);
      } catch (error) {
        refuse(error as Error);
      }
    };
    const end = () => {
      settle();
      resolve();
    };
    const breakOff = () => refuse(invalidRequest([{ path: 'request', message: 'could not be read' }]));
    const cut = () => refuse(invalidRequest([{ path: 'body', message: tooSmallChunks }]));
    if (chunks?.isCut) return cut();
    if (chunks) chunks.onCut = cut;
    request.on('data', add).on('end', end).on('close', breakOff);
  });
}

const tooLargeUnused = () =>
  invalidRequest([{ path: 'body', message: `must have at most ${maxBodyBytes} bytes` }]);

const tooSmallChunks = `comes in too small chunks: more than ${maxChunks} must have ${minChunkBytes} bytes on average`;

const [quote, backslash, colon, bracket, brace] = Buffer.from('"\\:[{');
const betweenValues = new Set(Buffer.from(' \t\r\n,:[]{}"'));
const isBetween = Uint8Array.from({ length: 256 }, (_, byte) => (betweenValues.has(byte) ? 1 : 0));

/**
 * Counts the values of a JSON text before it is parsed: every start of a value, minus the colons, since the text before
 * a colon is a key. For text that is not JSON the count has no meaning.
 */
export function hasMoreValues(bytes: Buffer, max: number): boolean {
  let count = 0;
  let within = false; // a number, true, false or null
  for (let at = 0; at < bytes.length && count <= max; at += 1) {
    const byte = bytes[at]!;
    if (isBetween[byte] === 0) {
      if (!within) count += 1;
      within = true;
      continue;
    }
    within = false;
    if (byte === bracket || byte === brace) count += 1;
    else if (byte === colon) count -= 1;
    else if (byte === quote) {
      count += 1;
      for (at += 1; at < bytes.length && bytes[at] !== quote; at += 1) if (bytes[at] === backslash) at += 1;
    }
  }
  return count > max;
}

const byteOrderMark = '\ufeff';

function parse(text: string, details: Detail[]): unknown {
  if (text === '') return {};
  const json = text.startsWith(byteOrderMark) ? text.slice(1) : text;
  try {
    return JSON.parse(json);
  } catch {
    details.push({ path: 'body', message: `must be valid JSON: ${jsonFault(json)}` });
    return undefined;
  }
}

const sentHeaders = (request: Request): string =>
  ['Content-Type', 'Content-Encoding']
    .map((name) => [name, request.get(name)?.slice(0, maxNameLength)] as const)
    .filter(([name, value]) => value !== undefined || name === 'Content-Type')
    .map(([name, value]) => (value ? ` The request has ${name}: ${value}.` : ` The request has no ${name}.`))
    .join('');

export const payloadTooLarge = () =>
  new ApiError(413, 'PAYLOAD_TOO_LARGE', `The body must have at most ${maxBodyBytes} bytes.`);

/**
 * Reports every refused key and value: prototype keys, U+0000, lone surrogates, numbers beyond JavaScript's, too deep
 * nesting; in fields kept as sent, integers whose digits JavaScript may have changed. `keys` lead to the value; they
 * become a path only if something is wrong.
 */
function inspect(value: unknown, keys: (string | number)[], faults: BodyFaults, isKept = false): void {
  const wrong = (message: string) => note(faults, keys, message);
  if (typeof value === 'number' && !Number.isFinite(value)) wrong('must be a finite number');
  else if (isKept && Number.isInteger(value) && !Number.isSafeInteger(value)) wrong(inexact);
  if (typeof value === 'string' && !isText(value)) wrong(notText);
  if (typeof value !== 'object' || value === null) return;
  if (keys.length === maxDepth) {
    wrong(`must not be nested deeper than ${maxDepth} levels`);
    // Later checks of this refused value, such as that of its size, would overflow the stack.
    for (const key of Object.keys(value)) Reflect.deleteProperty(value, key);
    return;
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      keys.push(index);
      inspect(value[index], keys, faults, isKept);
      keys.pop();
    }
    return;
  }
  for (const key of Object.keys(value)) {
    keys.push(key);
    if (refusedKeys.has(key)) wrong('is not allowed');
    else {
      if (!isText(key)) wrong(notText);
      inspect((value as Record<string, unknown>)[key], keys, faults, isKept || keptFields.has(key));
    }
    keys.pop();
  }
}

/**
 * Keeps up to `maxDetails` faults in list items and as many elsewhere, so that neither kind crowds out the other. Beyond
 * that, it still keeps the faults of top-level fields and the first fault of each item, because an item without a detail
 * may be accepted.
 */
function note({ beside, ofItems }: BodyFaults, keys: (string | number)[], message: string): void {
  const isOfItem = typeof keys[1] === 'number';
  const kind = isOfItem ? ofItems : beside;
  const hasRoom =
    kind.details.length < maxDetails ||
    keys.length <= 1 ||
    (isOfItem && !kind.details.at(-1)!.path.startsWith(pathOf(keys.slice(0, 2))));
  if (hasRoom) kind.details.push({ path: pathOf(keys), message });
  else kind.more += 1;
}

const isText = (text: string) => !text.includes('\0') && text.isWellFormed();
const notText = 'must not contain U+0000 or unpaired surrogates';

const inexact = 'is an integer beyond 9007199254740991, which would lose digits: send it as text';

/** A double is identified by this many digits: what some languages write beyond the shortest ones is no loss. */
const maxDigits = 17;

/** Shorter numbers without an exponent are always exact. This also matches digits in texts. */
const maybeInexact = /\d[\d.]{15,}(?:[eE][+-]?\d+)?|\d[\d.]*[eE][+-]?\d+/g;

/** Numbers of a body that are not in their shortest form: the check of each takes microseconds. */
const maxLongForms = 1_000;

/** The keys that lead to each number of a valid JSON text whose digits a double cannot keep; null if it has too many. */
function inexactNumbers(text: string): (string | number)[][] | null {
  let longForms = 0;
  for (const [number] of text.matchAll(maybeInexact)) {
    if (String(Number(number)) === number) continue;
    longForms += 1;
    // The digits may be those of a text, such as an id: only the whole JSON tells.
    if (longForms > maxLongForms || !isExact(number)) return keysOfInexact(text);
  }
  return [];
}

function keysOfInexact(text: string): (string | number)[][] | null {
  const found: (string | number)[][] = [];
  const keys: (string | number)[] = [];
  let key = ''; // a text that may be followed by a colon
  let longForms = 0;
  for (const [part] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s"[\]{},:]+/g)) {
    const last = keys.length - 1;
    if (part.startsWith('"')) key = part;
    else if (part === '[') keys.push(0);
    else if (part === '{') keys.push('');
    else if (part === ']' || part === '}') keys.pop();
    else if (part === ':') keys[last] = JSON.parse(key) as string;
    else if (part === ',' && typeof keys[last] === 'number') keys[last] += 1;
    else if (/^[-\d]/.test(part) && String(Number(part)) !== part) {
      longForms += 1;
      if (longForms > maxLongForms) return null;
      if (!isExact(part)) found.push([...keys]);
    }
  }
  return found;
}

/** Whether the double that JavaScript reads is what was sent: as written shortest, or rounded to as many digits. */
function isExact(number: string): boolean {
  const value = Number(number);
  if (String(value) === number || !Number.isFinite(value)) return true; // Infinity is refused as such
  const sent = digitsOf(number);
  if (sent.digits === '') return value === 0;
  const rounded = sent.digits.length > maxDigits ? roundedTo(maxDigits, sent) : sent;
  const kept = [String(value), value.toPrecision(Math.min(maxDigits, sent.digits.length))].map(digitsOf);
  return kept.some(({ digits, exponent }) => digits === rounded.digits && exponent === rounded.exponent);
}

/** 0.`digits` × 10^`exponent`, without zeros at either end; one digit more than those that count. */
interface Decimal {
  digits: string;
  exponent: number;
}

function digitsOf(number: string): Decimal {
  const [, whole = '', fraction = '', power = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const all = whole + fraction;
  const significant = all.replace(/^0+/, '');
  const exponent = whole.length - (all.length - significant.length) + Number(power);
  return { digits: significant.slice(0, maxDigits + 1).replace(/0+$/, ''), exponent };
}

function roundedTo(length: number, { digits, exponent }: Decimal): Decimal {
  const up = digits[length]! >= '5' ? 1n : 0n;
  const kept = (BigInt(digits.slice(0, length)) + up).toString();
  return { digits: kept.replace(/0+$/, ''), exponent: exponent + kept.length - length };
}

function reportLostDigits(text: string, { beside: { details }, ofItems }: BodyFaults): void {
  const inexact = inexactNumbers(text);
  if (inexact === null) details.push({ path: 'body', message: tooLongForms });
  const named = new Set([...details, ...ofItems.details].map(({ path }) => path));
  for (const path of new Set((inexact ?? []).map(pathOf)))
    if (!named.has(path)) details.push({ path, message: unfit });
}

const tooLongForms = `must have at most ${maxLongForms.toLocaleString('en')} numbers of more digits than they need`;
const unfit =
  'does not fit into a double (IEEE 754), which would lose digits: round it, or send it as text where any JSON is taken';

const pathOf = (keys: (string | number)[]): string =>
  keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`;
    const name = key.slice(0, maxNameLength).toWellFormed();
    return path ? `${path}.${name}` : name;
  }, '') || 'body';

/**
 * Bounds the memory of the bodies of requests under way. Returns a function that counts the bytes of one request's
 * body, until its response closes. It throws ApiError TOO_MANY_REQUESTS if the caller exceeds its share: a body without
 * room is refused at once, not queued.
 */
export type BodyBytes = (callerId: string, response: Response) => (bytes: number) => void;

/** A caller may have at most this share of the free bytes, so that a new caller always finds some. */
const shareOfFree = 1 / 8;

export function createBodyBytes({ maxBytes, onRefused }: { maxBytes: number; onRefused(): void }): BodyBytes {
  const byCaller = new Map<string, number>();
  let total = 0;

  const add = (callerId: string, bytes: number) => {
    total += bytes;
    const ofCaller = (byCaller.get(callerId) ?? 0) + bytes;
    if (ofCaller > 0) byCaller.set(callerId, ofCaller);
    else byCaller.delete(callerId);
  };
  const refusal = () => {
    onRefused();
    return tooManyRequests('The request bodies in progress for this account are too large.', 1);
  };

  return (callerId, response) => {
    if (response.destroyed) throw refusal();
    let received = 0;
    response.once('close', () => add(callerId, -received));
    return (bytes) => {
      const share = (maxBytes - total) * shareOfFree;
      if (response.destroyed || (byCaller.get(callerId) ?? 0) + bytes > share) throw refusal();
      received += bytes;
      add(callerId, bytes);
    };
  };
}
