import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { diagnose, verify, type DiagnosisInput } from '../../../src/client/index.js';
import { sign } from '../../../src/engine/send/headers.js';
import { renderNotification } from '../../../src/engine/record/store.js';
import { newId } from '../../../src/platform/ids.js';
import { newSecret } from '../../../src/engine/send/sealing.js';

const now = new Date('2026-11-22T12:00:00Z');
const nowSeconds = now.getTime() / 1_000;
const [secret, previousSecret, otherSecret] = [newSecret(), newSecret(), newSecret()];
const id = newId(now.getTime() - 1_000);

const body = renderNotification(
  { trackingId: 'PH1', shipperTrackingId: 'Pédido <1>/a' },
  { state: 'CREATED', lat: 19.43, lng: -99.13, anomalies: { burst: 0.5, wet: true } },
  now.getTime() - 1_000,
);

const signed = (rawBody = body, secrets = [secret], at = nowSeconds) => ({
  'webhook-id': id,
  'webhook-timestamp': String(at),
  'webhook-signature': sign(secrets, id, at, rawBody),
});

const good: DiagnosisInput = { headers: signed(), rawBody: body, secret, now };
const signature = signed()['webhook-signature'];
const digest = signature.slice(3);

/** `cause`, or `cause problem`; in brackets if it is only likely. */
async function causesOf(changed: Partial<DiagnosisInput>): Promise<string[]> {
  const { findings } = await diagnose({ ...good, ...changed });
  return findings.map((finding) => {
    const text = 'problem' in finding ? `${finding.cause} ${finding.problem}` : finding.cause;
    return finding.certain ? text : `[${text}]`;
  });
}

const without = (name: string) => ({ ...signed(), [name]: undefined });
const withHeader = (name: string, value: string) => ({ headers: { ...signed(), [name]: value } });

test('a good notification has no findings', async () => {
  expect(await diagnose(good)).toEqual({ ok: true, explained: true, findings: [] });
});

describe('names the cause', () => {
  test.each<[what: string, changed: Partial<DiagnosisInput>, causes: string[]]>([
    ['no id', { headers: without('webhook-id') }, ['HEADER_MISSING']],
    ['no timestamp', { headers: without('webhook-timestamp') }, ['HEADER_MISSING']],
    ['no signature', { headers: without('webhook-signature') }, ['HEADER_MISSING']],
    ['no header at all', { headers: '' }, ['NO_HEADERS']],
    ['an object without headers', { headers: { 'webhook-id': undefined } }, ['NO_HEADERS']],
    ['other headers', { headers: 'host: a' }, ['HEADER_MISSING', 'HEADER_MISSING', 'HEADER_MISSING']],
    [
      'a timestamp in words',
      withHeader('webhook-timestamp', 'soon'),
      ['TIMESTAMP_MALFORMED', '[WRONG_SECRET]'],
    ],
    [
      'a timestamp in milliseconds',
      withHeader('webhook-timestamp', `${nowSeconds}000`),
      ['TIMESTAMP_MALFORMED'],
    ],
    ['a clock that is ahead', { now: new Date(now.getTime() + 301_000) }, ['CLOCK_OFF']],
    ['a clock that is behind', { now: new Date(now.getTime() - 301_000) }, ['CLOCK_OFF']],
    ['no secret', { secret: ' ' }, ['SECRET_MALFORMED EMPTY']],
    ['a signature as the secret', { secret: signature }, ['SECRET_MALFORMED SIGNATURE']],
    ['a bare signature as the secret', { secret: digest }, ['SECRET_MALFORMED SIGNATURE']],
    ['a token as the secret', { secret: 'phk_abc' }, ['SECRET_MALFORMED TOKEN']],
    ['an account key as the secret', { secret: 'ak_AAEC-w_k' }, ['SECRET_MALFORMED ACCOUNT_KEY']],
    ['an access token as the secret', { secret: 'eyJh.eyJz.x-y' }, ['SECRET_MALFORMED ACCESS_TOKEN']],
    ['no secret at all', { secret: undefined }, ['SECRET_MALFORMED EMPTY']],
    ['an id as the secret', { secret: id }, ['SECRET_MALFORMED ID']],
    ['a placeholder', { secret: 'whsec_…' }, ['SECRET_MALFORMED MASKED']],
    ['a secret that is not Base64', { secret: 'whsec_a!b' }, ['SECRET_MALFORMED NOT_BASE64']],
    ['a line break after the secret', { secret: `${secret}\n` }, ['SECRET_MALFORMED WHITESPACE']],
    ['a quoted secret', { secret: `"${secret}"` }, ['SECRET_MALFORMED QUOTED']],
    ['a variable', { secret: `WEBHOOK_SECRET=${secret}` }, ['SECRET_MALFORMED TEXT_BEFORE']],
    ['a prefix in capitals', { secret: `WHSEC_${secret.slice(6)}` }, ['SECRET_MALFORMED PREFIX_CASE']],
    ['two prefixes', { secret: `whsec_${secret}` }, ['SECRET_MALFORMED PREFIX_TWICE']],
    ['a secret pasted twice', { secret: secret + secret }, ['SECRET_MALFORMED PASTED_TWICE']],
    ['a URL-encoded secret', { secret: encodeURIComponent(secret) }, ['SECRET_MALFORMED ESCAPED']],
    ['a secret without its padding', { secret: secret.slice(0, -1) }, ['SECRET_MALFORMED PADDING']],
    [
      'a secret cut short',
      { secret: secret.slice(0, 26) },
      ['[SECRET_MALFORMED TOO_SHORT]', '[WRONG_SECRET]'],
    ],
    ['a secret without its prefix', { secret: secret.slice(6) }, ['SECRET_WITHOUT_PREFIX']],
    ['another secret', { secret: otherSecret }, ['[WRONG_SECRET]']],
    [
      'the older secret, which signs along',
      { ...good, headers: signed(body, [otherSecret, secret]) },
      ['ROTATION_UNDER_WAY'],
    ],
    [
      'signed with the previous one',
      { headers: signed(body, [previousSecret]), previousSecret },
      ['PREVIOUS_SECRET'],
    ],
    ['a signature without `v1,`', withHeader('webhook-signature', digest), ['SIGNATURE_MALFORMED']],
    [
      'a signature cut short',
      withHeader('webhook-signature', signature.slice(0, -4)),
      ['SIGNATURE_MALFORMED'],
    ],
    [
      'signatures joined by a comma',
      withHeader('webhook-signature', `${signature}, ${signature}`),
      ['SIGNATURE_MALFORMED'],
    ],
    ['an id in capitals', withHeader('webhook-id', id.toUpperCase()), ['ID_ALTERED']],
    ['an id without dashes', withHeader('webhook-id', id.replaceAll('-', '')), ['ID_ALTERED']],
    ['an id in quotes', withHeader('webhook-id', `"${id}"`), ['ID_ALTERED']],
    ['an empty body', { rawBody: '' }, ['BODY_CONSUMED']],
    ['an object as text', { rawBody: '[object Object]' }, ['BODY_CONSUMED']],
    ['a field left out', { rawBody: body.replace(',"evidences":[]', '') }, ['BODY_CHANGED']],
    [
      'a value changed and written again',
      { rawBody: JSON.stringify({ state: 'LOST' }, null, 1) },
      ['[BODY_CHANGED]', '[WRONG_SECRET]'],
    ],
    ['a digest compared with `v1,` on the other', { computed: digest }, ['WRONG_COMPUTATION']],
  ])('%s', async (_what, changed, causes) => {
    expect(await causesOf(changed)).toEqual(causes);
  });

  test('a clock says how far it is off, and to which side', async () => {
    const off = async (seconds: number) =>
      (await diagnose({ ...good, now: new Date(now.getTime() + seconds * 1_000) })).findings[0];
    expect(await off(301)).toMatchObject({
      clockAheadSeconds: 301,
      message: expect.stringContaining('301 s ahead'),
    });
    expect(await off(-400)).toMatchObject({
      clockAheadSeconds: -400,
      message: expect.stringContaining('400 s behind'),
    });
    expect(await off(300)).toBeUndefined();
  });

  test.each([
    ['', /^There is no body\./],
    ['{}', /^The body is `{}`, which Parcelhook never sends: /],
    [' null\n', /^The body is `null`, /],
    ['[object Object]', /^The body is `\[object Object\]`, /],
  ])('a body without content is called what it is: %j', async (rawBody, says) => {
    const { findings } = await diagnose({ ...good, rawBody });
    expect(findings).toMatchObject([{ cause: 'BODY_CONSUMED', message: expect.stringMatching(says) }]);
  });

  test('headers of another delivery, whose body is longer', async () => {
    const headers = { ...signed(`${body} `), 'content-length': String(body.length + 1) };
    expect(await causesOf({ headers })).toEqual(['[OTHER_DELIVERY]', '[WRONG_SECRET]']);
  });

  test.each([
    ['in Base64', Buffer.from(body).toString('base64')],
    ['in hexadecimal', Buffer.from(body).toString('hex')],
  ])(
    'a wrong secret is all that is wrong with a body of the length in the headers, %s',
    async (_form, rawBody) => {
      const headers = { ...signed(), 'content-length': String(Buffer.byteLength(body)) };
      expect(await causesOf({ headers, rawBody, secret: otherSecret })).toEqual(['[WRONG_SECRET]']);
    },
  );

  test('a timestamp from before the event', async () => {
    const headers = { ...signed(body, [secret], nowSeconds - 60), 'webhook-signature': signature };
    expect(await causesOf({ headers })).toEqual(['[OTHER_DELIVERY]', '[WRONG_SECRET]']);
  });

  test('headers of two deliveries in one text', async () => {
    const lines = (headers: Record<string, string>) =>
      Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const other = { ...signed(), 'webhook-id': newId(), 'webhook-timestamp': String(nowSeconds - 9) };
    const headers = [...lines(other), ...lines(signed())].join('\n');
    expect(await causesOf({ headers })).toEqual(['OTHER_DELIVERY']);
  });

  const withKey = async (key: Uint8Array<ArrayBuffer>, content: string, hash = 'SHA-256') => {
    const { subtle } = globalThis.crypto;
    const imported = await subtle.importKey('raw', key, { name: 'HMAC', hash }, false, ['sign']);
    return Buffer.from(await subtle.sign('HMAC', imported, Buffer.from(content)));
  };
  const content = `${id}.${nowSeconds}.${body}`;
  const key = Buffer.from(secret.slice(6), 'base64');

  test.each<[what: string, compute: () => Promise<Buffer>, form: BufferEncoding, says: RegExp]>([
    ['the secret as text', () => withKey(Buffer.from(secret), content), 'base64', /secret as text/],
    [
      'its Base64 as text',
      () => withKey(Buffer.from(secret.slice(6)), content),
      'base64',
      /does not Base64-decode/,
    ],
    ['the body alone', () => withKey(key, body), 'base64', /body alone/],
    ['no id', () => withKey(key, `${nowSeconds}.${body}`), 'hex', /leaves out `webhook-id`/],
    ['hexadecimal', () => withKey(key, content), 'hex', /in another form/],
    ['another hash', () => withKey(key, content, 'SHA-512'), 'base64', /another signature/],
  ])('a signature computed by %s', async (_what, compute, form, says) => {
    const { findings } = await diagnose({ ...good, computed: (await compute()).toString(form) });
    expect(findings).toEqual([expect.objectContaining({ message: expect.stringMatching(says) })]);
  });
});

describe('a body that was parsed and written again', () => {
  const python = (value: unknown): string =>
    Array.isArray(value)
      ? `[${value.map(python).join(', ')}]`
      : typeof value === 'object' && value !== null
        ? `{${Object.entries(value)
            .map(([name, each]) => `${JSON.stringify(name)}: ${python(each)}`)
            .join(', ')}}`
        : JSON.stringify(value);
  const sortedFields = (text: string) =>
    Object.fromEntries(
      Object.entries(JSON.parse(text) as object).sort(([one], [two]) => (one < two ? -1 : 1)),
    );
  const unicode = (pattern: RegExp) => (text: string) =>
    text.replace(pattern, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;' };

  const writers: [what: string, write: (text: string) => string, says: RegExp][] = [
    ['2 spaces', (text) => JSON.stringify(JSON.parse(text), null, 2), /indented by 2 spaces/],
    ['4 spaces', (text) => JSON.stringify(JSON.parse(text), null, 4), /indented by 4 spaces/],
    ['Python', (text) => unicode(/[^\0-~]/g)(python(JSON.parse(text))), /Python/],
    ['Python without ensure_ascii', (text) => python(JSON.parse(text)), /Python/],
    ['sorted keys', (text) => JSON.stringify(sortedFields(text)), /keys sorted/],
    ['Python with sorted keys', (text) => python(sortedFields(text)), /Python.*keys sorted/],
    ['Go', unicode(/[<>&]/g), /as Go does/],
    ['PHP', (text) => unicode(/[^\0-~]/g)(text.replaceAll('/', '\\/')), /as PHP does/],
    ['a line break at the end', (text) => `${text}\n`, /white space was added at its end/],
    [
      'CRLF',
      (text) => JSON.stringify(JSON.parse(text), null, 2).replaceAll('\n', '\r\n'),
      /2 spaces, .*CRLF/,
    ],
    ['a byte order mark', (text) => `\uFEFF${text}`, /byte order mark/],
    ['HTML', (text) => text.replace(/[&<>"]/g, (letter) => entities[letter]!), /for HTML/],
    ['NFD', (text) => text.normalize('NFD'), /NFD/],
    ['Latin-1 read as UTF-8', (text) => Buffer.from(text).toString('latin1'), /Latin-1/],
    ['a string in JSON', (text) => JSON.stringify(text), /as a JSON string/],
  ];

  test.each(writers)('%s is named', async (_what, write, says) => {
    const { ok, explained, findings } = await diagnose({ ...good, rawBody: write(body) });
    expect({ ok, explained, count: findings.length }).toEqual({ ok: false, explained: true, count: 1 });
    expect(findings[0]!.message).toMatch(says);
  });

  test('bytes in Latin-1 are named', async () => {
    const { findings } = await diagnose({ ...good, rawBody: Buffer.from(body, 'latin1') });
    expect(findings).toMatchObject([{ cause: 'BODY_CHANGED', changes: ['it was written as Latin-1'] }]);
  });

  test('a notice in its own form verifies, and is found when it was written again', async () => {
    const notice = `{"state" : "WEBHOOK_DISABLED", "webhook_id" : "${id}", "target_address" : "https://example.com/é", "reason" : null, "timestamp" : 1}`;
    const headers = signed(notice);
    expect(await causesOf({ headers, rawBody: notice })).toEqual([]);
    expect(await causesOf({ headers, rawBody: JSON.stringify(JSON.parse(notice)) })).toEqual([
      'BODY_CHANGED',
    ]);
  });

  const texts = fc.string({ unit: 'grapheme', maxLength: 20 });
  const numbers = fc.double({ noNaN: true, noDefaultInfinity: true, min: -180, max: 180 });
  const notifications = fc
    .record({
      tracking: texts,
      state: texts,
      anomalies: fc.jsonValue(),
      lat: fc.option(numbers),
      at: fc.nat(),
    })
    .map(({ tracking, at, ...event }) =>
      renderNotification({ trackingId: 'PH1', shipperTrackingId: tracking }, event, at).normalize('NFC'),
    );

  test('whatever it holds: it is found, with the first byte that differs', async () => {
    await fc.assert(
      fc.asyncProperty(notifications, fc.constantFrom(...writers), async (sent, [, write]) => {
        const rawBody = write(sent);
        const { ok, findings } = await diagnose({ ...good, headers: signed(sent), rawBody });
        const [a, b] = [Buffer.from(rawBody), Buffer.from(sent)];
        if (a.equals(b)) return expect({ ok, findings }).toEqual({ ok: true, findings: [] });
        const offset = a.findIndex((byte, index) => byte !== b[index]);
        expect(findings).toMatchObject([
          {
            cause: 'BODY_CHANGED',
            certain: true,
            difference: { offset: offset < 0 ? a.length : offset },
          },
        ]);
      }),
      { numRuns: 60 },
    );
  });

  test('faults of secret, header and body together are all named', async () => {
    const changed = {
      headers: { ...signed(), 'webhook-id': id.toUpperCase() },
      secret: ` ${secret}`,
      rawBody: JSON.stringify(JSON.parse(body), null, 2),
      now: new Date(now.getTime() + 1_000_000),
    };
    expect(await causesOf(changed)).toEqual([
      'CLOCK_OFF',
      'SECRET_MALFORMED WHITESPACE',
      'ID_ALTERED',
      'BODY_CHANGED',
    ]);
  });
});

test('it is ok exactly if `verify` takes the request as it is', async () => {
  const changes = fc.record(
    {
      secret: fc.constantFrom(secret, otherSecret, previousSecret),
      rawBody: fc.constantFrom(body, `${body}\n`, JSON.stringify(JSON.parse(body), null, 2)),
      headers: fc.constantFrom(
        signed(body, [otherSecret, secret]),
        signed(body, [previousSecret]),
        without('webhook-id'),
      ),
      now: fc.integer({ min: -400, max: 400 }).map((seconds) => new Date(now.getTime() + seconds * 1_000)),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(changes, async (changed) => {
      const input = { ...good, ...changed } as DiagnosisInput & { headers: Record<string, string> };
      let isTaken = true;
      try {
        verify(input.headers, input.rawBody, input.secret!, { now: input.now });
      } catch {
        isTaken = false;
      }
      const { ok, findings } = await diagnose(input);
      expect(ok).toBe(isTaken);
      if (!ok) expect(findings.length).toBeGreaterThan(0);
    }),
    { numRuns: 50 },
  );
});

test('no input makes it throw, and no message holds the secret', async () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(anyText, anyText, anyText, anyText, async (headers, rawBody, one, computed) => {
      const { findings } = await diagnose({ headers, rawBody, secret: `${secret}${one}`, computed });
      for (const { message } of findings) {
        expect(message).not.toContain(secret.slice(6));
        expect(message).toMatch(/^[A-Zw][^\n]*\.$/);
      }
    }),
    { numRuns: 20 },
  );
});
