import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { ParcelhookError, verify } from '../../../src/client/index.js';
import { verify as verifyOnEdge } from '../../../src/client/web.js';
import { sign as signOfService } from '../../../src/engine/send/headers.js';
import { newSecret } from '../../../src/engine/send/sealing.js';

const secret = newSecret();
const next = newSecret();
const now = new Date('2026-11-22T12:00:00Z');
const nowSeconds = now.getTime() / 1_000;
const body = JSON.stringify({ state: 'CREATED', tracking_id: 'PH1', label_id: 'Pédido 1', timestamp: 1 });

const signed = (secrets = [secret], id = 'event-1', seconds = nowSeconds, payload = body) => ({
  'webhook-id': id,
  'webhook-timestamp': String(seconds),
  'webhook-signature': signOfService(secrets, id, seconds, payload),
});

function refusalOf(...[headers, rawBody, secrets, options]: Parameters<typeof verify>): string {
  try {
    verify(headers, rawBody, secrets, { now, ...options });
  } catch (error) {
    if (error instanceof ParcelhookError && error.code === 'INVALID_SIGNATURE') return error.message;
    throw error;
  }
  return 'it is taken';
}

describe('verify', () => {
  test('accepts the published example of Standard Webhooks', () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const example = '{"test": 2432232314}';
    const at = { now: new Date(1614265330_000) };
    expect(verify(headers, example, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', at)).toEqual(
      JSON.parse(example),
    );
  });

  test('accepts what the reference library signs and no changed byte of it', () => {
    const secrets = fc
      .uint8Array({ minLength: 24, maxLength: 64 })
      .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
    const bodies = fc.json().map((json) => Buffer.from(`{"text":${json}}`));
    fc.assert(
      fc.property(secrets, fc.uuid(), bodies, fc.nat(), (one, id, bytes, position) => {
        const signature = new Webhook(one).sign(id, now, bytes.toString());
        const headers = { ...signed(), 'webhook-id': id, 'webhook-signature': signature };
        expect(verify(headers, bytes, one, { now })).toEqual(JSON.parse(bytes.toString()));
        const changed = Buffer.from(bytes);
        changed[position % bytes.length]! ^= 1;
        expect(refusalOf(headers, changed, one)).toMatch(/no signature matches/);
      }),
    );
  });

  test.each<[string, Parameters<typeof verify>[0]]>([
    ['an object', signed()],
    [
      'names in any case',
      {
        'Webhook-Id': 'event-1',
        'WEBHOOK-TIMESTAMP': String(nowSeconds),
        'webhook-signature': signed()['webhook-signature'],
      },
    ],
    ['what fetch gives', new Headers(signed())],
    ['what Node gives', { ...signed(), 'set-cookie': ['a', 'b'], absent: undefined }],
  ])('reads the headers from %s', (_what, headers) => {
    expect(verify(headers, Buffer.from(body), secret, { now })).toMatchObject({ tracking_id: 'PH1' });
  });

  test('accepts either secret of a rotation, before, during and after', () => {
    for (const signing of [[secret], [next, secret], [next]])
      expect(verify(signed(signing), body, [secret, next], { now })).toMatchObject({ state: 'CREATED' });
    expect(verify(signed([next, secret]), body, secret, { now })).toMatchObject({ state: 'CREATED' });
    expect(refusalOf(signed([next]), body, secret)).toMatch(/no signature matches/);
  });

  test.each<[string, object, string | undefined, RegExp]>([
    ['another body', signed(), `${body} `, /changed body/],
    ['another id', { ...signed(), 'webhook-id': 'event-2' }, body, /no signature matches/],
    ['another time', { ...signed(), 'webhook-timestamp': String(nowSeconds - 1) }, body, /no signature/],
    ['a time that is none', { ...signed(), 'webhook-timestamp': 'soon' }, body, /not a number of seconds/],
    ['an old time', signed([secret], 'event-1', nowSeconds - 301), body, /more than 300 s away/],
    ['a time ahead', signed([secret], 'event-1', nowSeconds + 301), body, /more than 300 s away/],
    ['no id', { ...signed(), 'webhook-id': '' }, body, /webhook-id is missing/],
    ['two ids', { ...signed(), 'webhook-id': ['event-1', 'event-1'] }, body, /webhook-id is missing/],
    ['no signature', { ...signed(), 'webhook-signature': undefined }, body, /webhook-signature is missing/],
    ['another version', { ...signed(), 'webhook-signature': 'v2,AAAA' }, body, /no signature matches/],
    ['no JSON, be it signed', signed([secret], 'event-1', nowSeconds, '{'), '{', /not JSON/],
  ])('refuses %s', (_what, headers, rawBody, message) => {
    expect(refusalOf(headers as never, rawBody!, secret)).toMatch(message);
  });

  test('takes the body as text, bytes or an ArrayBuffer, and nothing that was parsed', async () => {
    const bytes = new TextEncoder().encode(`<${body}>`);
    const forms = [body, Buffer.from(body), bytes.subarray(1, -1), bytes.slice(1, -1).buffer];
    for (const form of forms) {
      expect(verify(signed(), form, secret, { now })).toEqual(JSON.parse(body));
      expect(await verifyOnEdge(signed(), form, secret, { now })).toEqual(JSON.parse(body));
    }
    expect(() => verify(signed(), JSON.parse(body) as string, secret, { now })).toThrow(TypeError);
  });

  test('by Web Crypto takes and refuses the same, whatever the form of the secret', async () => {
    const plain = secret.slice('whsec_'.length);
    const cases: Parameters<typeof verify>[] = [
      [signed(), body, plain.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')],
      [signed([next, secret]), body, [newSecret(), secret]],
      [signed(), `${body} `, secret],
      [signed([secret], 'event-1', nowSeconds - 301), body, secret],
      [{ ...signed(), 'webhook-signature': 'v1,' }, body, secret],
      [signed(), body, 'whsec_'],
    ];
    for (const [headers, rawBody, secrets] of cases) {
      const here = await Promise.resolve()
        .then(() => verify(headers, rawBody, secrets, { now }))
        .catch(String);
      expect(await verifyOnEdge(headers, rawBody, secrets, { now }).catch(String)).toEqual(here);
    }
  });

  test('accepts a time within the tolerance, which is configurable', () => {
    const old = signed([secret], 'event-1', nowSeconds - 299);
    expect(refusalOf(old, body, secret)).toBe('it is taken');
    expect(refusalOf(old, body, secret, { toleranceSeconds: 10 })).toMatch(/more than 10 s away/);
    expect(refusalOf(old, body, secret, { toleranceSeconds: NaN })).toMatch(/away/);
    expect(refusalOf({ ...signed() }, body, secret, { now: new Date() })).toMatch(/more than 300 s away/);
  });

  test.each([[[]], [''], ['whsec_'], [[secret, '']], [undefined]])(
    'throws TypeError for %j: an unusable key is an error of the caller',
    (secrets) => {
      expect(() => verify(signed(), body, secrets as string, { now })).toThrow(TypeError);
    },
  );
});
