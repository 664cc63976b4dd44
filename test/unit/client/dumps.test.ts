import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inspect } from 'node:util';
import { diagnose } from '../../../src/client/index.js';
import { sign } from '../../../src/engine/send/headers.js';
import { renderNotification } from '../../../src/engine/record/store.js';
import { newId } from '../../../src/platform/ids.js';
import { newSecret } from '../../../src/engine/send/sealing.js';

const now = new Date('2026-11-22T12:00:00Z');
const nowSeconds = now.getTime() / 1_000;
const [secret, otherSecret] = [newSecret(), newSecret()];
const id = newId(now.getTime() - 1_000);

const bodyWith = (note: string) =>
  renderNotification(
    { trackingId: 'PH1', shipperTrackingId: 'Pédido <1>|a' },
    { state: 'CREATED', evidences: [{ note }] },
    now.getTime() - 1_000,
  );
/** Its rows repeat. */
const body = bodyWith('A'.repeat(100));

const causesOf = async (sent: string, rawBody: string, usedSecret: string) => {
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(nowSeconds),
    'webhook-signature': sign([secret], id, nowSeconds, sent),
    'content-length': String(Buffer.byteLength(sent)),
  };
  return (await diagnose({ headers, rawBody, secret: usedSecret, now })).findings;
};

const hexOf = (bytes: Buffer, groupSize = 1) =>
  bytes.toString('hex').replace(new RegExp(`(?:..){${groupSize}}(?!$)`, 'g'), '$& ');
const signsOf = (bytes: Buffer) => bytes.toString('latin1').replace(/[^ -~]/g, '.');
const offsetOf = (at: number, length = 8, base = 16) => at.toString(base).padStart(length, '0');

/** Each row of 16 bytes; if `isSqueezed`, a `*` stands for repeated ones. */
function rowsOf(text: string, write: (row: Buffer, at: number) => string, isSqueezed: boolean): string[] {
  const bytes = Buffer.from(text);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16);
    const isRepeated = at > 0 && row.equals(bytes.subarray(at - 16, at));
    if (!isRepeated || !isSqueezed) lines.push(write(row, at));
    else if (lines.at(-1) !== '*') lines.push('*');
  }
  return lines;
}

const xxd =
  (groupSize: number, isUpper = false) =>
  (text: string) => {
    const width = 32 + 16 / groupSize - 1;
    const write = (row: Buffer, at: number) => {
      const hex = hexOf(row, groupSize).padEnd(width);
      return `${offsetOf(at)}: ${isUpper ? hex.toUpperCase() : hex}  ${signsOf(row)}`;
    };
    return rowsOf(text, write, false).join('\n');
  };

const hexdump = (text: string, isSqueezed = true) => {
  const write = (row: Buffer, at: number) => {
    const halves = `${hexOf(row.subarray(0, 8)).padEnd(23)}  ${hexOf(row.subarray(8))}`;
    return `${offsetOf(at)}  ${halves.padEnd(48)}  |${signsOf(row)}|`;
  };
  return [...rowsOf(text, write, isSqueezed), offsetOf(Buffer.byteLength(text))].join('\n');
};

/** `length` and `base` are those of the offsets. `hasSigns`: the characters stand beside the bytes. */
const od = (length: number, base: number, hasSigns: boolean) => (text: string) => {
  const write = (row: Buffer, at: number) =>
    `${offsetOf(at, length, base)} ${hasSigns ? `${hexOf(row).padEnd(47)}  >${signsOf(row)}<` : hexOf(row)}`;
  return [...rowsOf(text, write, true), offsetOf(Buffer.byteLength(text), length, base)].join('\n');
};

/** Groups are the words of a little-endian processor. */
const hexdumpOfWords = (text: string) => {
  const write = (row: Buffer, at: number) => {
    const even = Buffer.concat([row, Buffer.alloc(row.length % 2)]);
    return `${offsetOf(at, 7)} ${hexOf(even.swap16(), 2)}`;
  };
  return [...rowsOf(text, write, true), offsetOf(Buffer.byteLength(text), 7)].join('\n');
};

const dumps: [what: string, write: (text: string) => string][] = [
  ['xxd', xxd(2)],
  ['xxd -u', xxd(2, true)],
  ['xxd -g1', xxd(1)],
  ['hexdump -C', hexdump],
  ['hexdump -v -C', (text) => hexdump(text, false)],
  ['hexdump', hexdumpOfWords],
  ['od -A x -t x1', od(6, 16, false)],
  ['od -A x -t x1z', od(6, 16, true)],
  ['od -t x1z', od(7, 8, true)],
  ['od -A d -t x1', od(7, 10, false)],
];

describe('a body that was dumped', () => {
  test.each(dumps)('by %s is read, and a wrong secret is still found', async (_tool, write) => {
    expect(await causesOf(body, write(body), secret)).toMatchObject([
      { cause: 'BODY_CHANGED', certain: true, changes: ['it is a hex dump: take the bytes themselves'] },
    ]);
    expect(await causesOf(body, write(body), otherSecret)).toMatchObject([{ cause: 'WRONG_SECRET' }]);
  });

  test.each([
    ['the command and the prompt', `$ xxd body.json\r\n${xxd(2)(body).replaceAll('\n', '\r\n')}\r\n$ `],
    ['the marks of a quotation', xxd(2)(body).replace(/^/gm, '> ')],
    ['a text in JSON', JSON.stringify(hexdump(body))],
    ['no characters beside the bytes', xxd(2)(body).replace(/ {2}.*$/gm, '')],
  ])('is read with %s, too', async (_what, rawBody) => {
    expect(await causesOf(body, rawBody, secret)).toMatchObject([{ cause: 'BODY_CHANGED', certain: true }]);
  });

  test('is read up to the size that a notification may have', async () => {
    const largest = bodyWith('Ab'.repeat(131_072 - Buffer.byteLength(bodyWith('')) / 2));
    expect(Buffer.byteLength(largest)).toBeGreaterThan(262_140);
    for (const write of [xxd(1), hexdump])
      expect(await causesOf(largest, write(largest), secret)).toMatchObject([
        { cause: 'BODY_CHANGED', certain: true },
      ]);
  });

  test('is read whatever the characters beside the bytes look like', async () => {
    const notes = fc.string({ unit: fc.constantFrom(...'0af *|>:\\é'), maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(notes, fc.constantFrom(...dumps), async (note, [, write]) => {
        const sent = bodyWith(note);
        expect(await causesOf(sent, write(sent), secret)).toMatchObject([
          { cause: 'BODY_CHANGED', certain: true },
        ]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a body that cannot be read is called unread, and nothing else is called wrong', () => {
  const bytes = Buffer.from(body);
  const lines = (text: string, start: number, end?: number) => text.split('\n').slice(start, end).join('\n');
  const [cutOff, ofDump, neither] = [
    /: it is cut off\. /,
    /: part of the dump is missing/,
    /: it is neither/,
  ];
  test.each([
    ['a Buffer as Node prints it', inspect(bytes), cutOff],
    ['a Uint8Array as Node prints it', inspect(new Uint8Array(bytes)), cutOff],
    ['JSON without its end', body.slice(0, 60), cutOff],
    ['JSON with dots for its end', `${body.slice(0, 60)}…`, cutOff],
    ['Base64 without its end', bytes.toString('base64').slice(0, 101), cutOff],
    ['hexadecimal without its end', bytes.toString('hex').slice(0, 101), cutOff],
    ['the first lines of xxd', lines(xxd(2)(body), 0, 4), ofDump],
    ['the last lines of hexdump', lines(hexdump(body), 1), ofDump],
    ['a dump without a line', xxd(2)(body).replace(/\n00000010.*/, ''), ofDump],
    ['a dump whose `*` is missing', hexdump(body).replace('\n*', ''), ofDump],
    ['a dump that ends in `*`', hexdump(body).replace(/\*[^]*/, '*'), ofDump],
    ['a dump in octal', '0000000 021173 072163 072141 021145\n0000010', ofDump],
    ['rows beyond the size of a body', '00000000  7b 7b\n*\nfffffff0\n', ofDump],
    ['fields of a form', 'state=CREATED', neither],
    ['a dict of Python', "{'state': 'CREATED'}", neither],
    ['a list', '[{"state":"CREATED"}]', neither],
  ])('%s', async (_what, rawBody, says) => {
    for (const used of [secret, otherSecret])
      expect(await causesOf(body, rawBody, used)).toMatchObject([
        { cause: 'BODY_UNREAD', certain: false, message: expect.stringMatching(says) },
      ]);
  });

  test('a text that is no secret is still named as such', async () => {
    expect(await causesOf(body, inspect(bytes), 'phk_abc')).toMatchObject([
      { cause: 'SECRET_MALFORMED', problem: 'TOKEN' },
      { cause: 'BODY_UNREAD' },
    ]);
  });
});
