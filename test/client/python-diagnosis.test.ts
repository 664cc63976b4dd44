/** The signature doctor in Python says what the one in Node says. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { resolve } from 'node:path';
import { diagnose, type DiagnosisInput } from '../../src/client/index.js';
import { sign } from '../../src/engine/send/headers.js';
import { renderNotification } from '../../src/engine/record/notification.js';
import { newId } from '../../src/platform/ids.js';
import { newSecret } from '../../src/engine/send/sealing.js';
import { has, startPython } from './python.js';

const nowSeconds = Date.parse('2026-11-22T12:00:00Z') / 1_000;
const id = newId((nowSeconds - 1) * 1_000);
const [secret, previousSecret, otherSecret] = [newSecret(), newSecret(), newSecret()];

type Edit = (text: string) => string;
const rewritten = (text: string, ...options: [null | string[], (string | number)?]) =>
  JSON.stringify(JSON.parse(text), ...options);
const escaped =
  (pattern: RegExp): Edit =>
  (text) =>
    text.replace(pattern, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
const withSpaces: Edit = (text) => rewritten(text, null, 1).replace(/,\n */g, ', ').replace(/\n */g, '');

const bodyEdits: Edit[] = [
  (text) => text,
  (text) => rewritten(text, null, 2),
  (text) => rewritten(text, null, 4),
  (text) => rewritten(text, null, '\t').replaceAll('\n', '\r\n'),
  withSpaces,
  (text) => escaped(/[^\0-~]/g)(withSpaces(text)),
  (text) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).sort())),
  escaped(/[<>&]/g),
  (text) => escaped(/[^\0-~]/g)(text.replaceAll('/', '\\/')),
  (text) => `\uFEFF ${text}\n`,
  (text) => text.replace(/["<>]/g, (letter) => ({ '"': '&quot;', '<': '&lt;', '>': '&#62;' })[letter]!),
  (text) => text.normalize('NFD'),
  (text) => Buffer.from(text).toString('latin1'),
  (text) => JSON.stringify(text),
  (text) => text.replace(',"evidences":[]', ''),
  (text) => text.replace('CREATED', 'LOST'),
  () => '[object Object]',
  () => '',
  () => ' {}',
  () => 'state=CREATED',
];

const secretEdits: Edit[] = [
  (text) => text,
  (text) => `${text}\n`,
  (text) => `“${text}”`,
  (text) => `SECRET=${text}`,
  (text) => `whsec_${text}`,
  (text) => text + text,
  encodeURIComponent,
  (text) => text.replaceAll('+', '-').replaceAll('/', '_'),
  (text) => text.replace(/=+$/, ''),
  (text) => text.slice(6),
  (text) => text.slice(0, 26),
  () => id,
  () => 'phk_x',
  () => 'ak_x-y',
  () => 'eyJh.eyJz.x-y',
  () => 'whsec_…',
  () => ' ',
];

type Headers = Record<string, string>;
const headerEdits: ((headers: Headers) => Headers | string)[] = [
  (headers) => headers,
  ({ 'webhook-id': _, ...headers }) => headers,
  ({ 'webhook-timestamp': _, ...headers }) => headers,
  (headers) => ({ ...headers, 'webhook-id': id.toUpperCase() }),
  (headers) => ({ ...headers, 'webhook-id': `"${id.replaceAll('-', '')}"` }),
  (headers) => ({ ...headers, 'webhook-timestamp': 'soon' }),
  (headers) => ({ ...headers, 'webhook-timestamp': `${nowSeconds}000` }),
  (headers) => ({ ...headers, 'webhook-timestamp': String(nowSeconds - 100) }),
  (headers) => ({ ...headers, 'webhook-signature': headers['webhook-signature']!.slice(3) }),
  (headers) => ({ ...headers, 'webhook-signature': headers['webhook-signature']!.slice(0, -4) }),
  (headers) => ({ ...headers, 'webhook-signature': headers['webhook-signature']!.replace(' ', ', ') }),
  (headers) => ({ ...headers, 'content-length': '1' }),
  (headers) => JSON.stringify({ headers }),
  () => '',
  () => 'host: localhost',
  (headers) => JSON.stringify(Object.entries(headers).flat()),
  (headers) =>
    Object.entries(headers)
      .map(([name, value]) => `  -H '${name}: ${value}' \\`)
      .join('\n'),
  (headers) =>
    `webhook-id: another\n${Object.entries(headers)
      .map((pair) => pair.join(': '))
      .join('\r\n')}`,
];

const texts = fc.string({ unit: 'grapheme', maxLength: 12 });
const notifications = fc
  .record({
    tracking: texts,
    anomalies: fc.jsonValue(),
    lat: fc.option(fc.double({ min: -90, max: 90, noNaN: true })),
  })
  .map(({ tracking, ...event }) =>
    renderNotification(
      { trackingId: 'PH1', shipperTrackingId: tracking },
      { state: 'CREATED', ...event },
      nowSeconds * 1_000,
    ),
  );
const signers = [[secret], [secret], [previousSecret], [otherSecret, secret], [otherSecret]];

const inputs = fc
  .record({
    sent: notifications,
    by: fc.constantFrom(...signers),
    bodyEdit: fc.constantFrom(...bodyEdits),
    secretEdit: fc.constantFrom(...secretEdits),
    headerEdit: fc.constantFrom(...headerEdits),
    previous: fc.constantFrom(null, previousSecret),
    secondsOff: fc.constantFrom(0, 0, 300, -301),
    isComputed: fc.boolean(),
  })
  .map(({ sent, by, previous, ...edits }) => {
    const signature = sign(by, id, nowSeconds, sent);
    const all = { 'webhook-id': id, 'webhook-timestamp': String(nowSeconds), 'webhook-signature': signature };
    return {
      headers: edits.headerEdit(all),
      rawBody: edits.bodyEdit(sent),
      secret: edits.secretEdit(secret),
      previousSecret: previous,
      computed: edits.isComputed ? sign([secret], '', nowSeconds, sent).slice(3) : null,
      nowSeconds: nowSeconds + edits.secondsOff,
    };
  });

(has.python ? test : test.skip)('a diagnosis is the same in Python and in Node', async () => {
  const seed = Date.now() % 1_000_000;
  const sample = fc.sample(inputs, { seed, numRuns: 500 });
  const program = startPython([resolve('test/client/diagnoses.py')], {}, JSON.stringify(sample));
  const inPython = (await program.next()) as unknown as unknown[];
  for (const [place, { nowSeconds: seconds, ...input }] of sample.entries()) {
    const inNode = await diagnose({ ...(input as DiagnosisInput), now: new Date(seconds * 1_000) });
    expect({ seed, input, diagnosis: inPython[place] }).toEqual({ seed, input, diagnosis: inNode });
  }
});
