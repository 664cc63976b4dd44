import { beforeEach, describe, expect, test } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { operator, registerAccount, registerWebhook, request, sampleOrder } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectFailure, expectSuccess, expectWrong } from '../../support/expect.js';

let rowsBefore: unknown;

const rows = () =>
  service.sql(
    `select (select count(*) from shippers) as shippers, (select count(*) from users) as users,
            (select count(*) from shipments where shipper_id = $1) as shipments,
            (select count(*) from events where shipper_id = $1 and state <> 'CREATED') as events,
            (select json_agg(w order by webhook_id) from webhooks w where shipper_id = $1)::text as webhooks`,
    [account.shipperId],
  );

const service = await sharedService();
const account = await registerAccount(service);
const { webhookId } = await registerWebhook(account, 'https://example.org/hook', { interests: ['LOST'] });
beforeEach(async () => {
  rowsBefore = await rows();
});

const nothingWritten = async () => expect(await rows()).toEqual(rowsBefore);

const everywhere = (raw: string | Buffer, headers: Record<string, string> = {}) =>
  Promise.all([
    account.call('/v1/shipments', { raw, headers }),
    account.call('/v1/webhooks', { raw, headers }),
    account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', raw, headers }),
    operator(service, '/shippers', { raw, headers }),
    operator(service, `/shippers/${account.shipperId}/users`, { raw, headers }),
    operator(service, '/shipments/PH1/events', { raw, headers }),
    operator(service, '/events', { raw, headers }),
  ]);
const orderText = (from: string, to: string) => {
  const text = JSON.stringify(sampleOrder());
  expect(text).toContain(from);
  return text.replace(from, to);
};

describe('bodies that are not usable JSON return 400 everywhere and write nothing', () => {
  test.each<[string, string | Buffer]>([
    ['cut off', '{"interests":["CREATED"'],
    ['a trailing comma', '{"a":1,}'],
    ['two values', '{}{}'],
    ['single quotes', "{'a':1}"],
    ['NaN', '{"name":NaN}'],
    ['white space only', '   '],
    ['a raw control character', '{"name":"a\nb"}'],
    ['a bare word', 'undefined'],
    ['null', 'null'],
    ['a number', '7'],
    ['a text', '"name"'],
    ['a list', '[{"name":"x"}]'],
    ['a byte that no UTF-8 has', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
    ['UTF-8 too long for its character', Buffer.from('{"name":"\xc0\xaf"}', 'latin1')],
    ['a surrogate in UTF-8', Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1')],
    ['UTF-16', Buffer.from('{"name":"x"}', 'utf16le')],
    ['depth 100', `{"name":${'['.repeat(100)}${']'.repeat(100)}}`],
    ['depth 100,000', '['.repeat(100_000)],
    ['depth 100,000, closed', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a deep unknown field', `{"name":"x","deep":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`],
    ['__proto__', '{"name":"x","__proto__":{"admin":true}}'],
    ['__proto__ in an escape', '{"name":"x","__\\u0070roto__":1}'],
    ['constructor', '{"name":"x","constructor":{"prototype":{}}}'],
    ['__proto__ deep inside', '{"name":"x","a":[{"b":{"__proto__":null}}]}'],
    ['U+0000', '{"name":"a\\u0000b"}'],
    ['U+0000 in a name', '{"name":"x","a\\u0000":1}'],
    ['half a surrogate pair', '{"name":"\\ud800"}'],
    ['the other half', '{"name":"x","a":"\\udfff!"}'],
  ])('%s', async (_, raw) => {
    for (const response of await everywhere(raw)) expectFailure(response, 400);
    await nothingWritten();
  });
});

describe('the position of a refused value is named', () => {
  test.each([
    ['"Books"', '"Bo\\u0000oks"', 'package.description'],
    ['"Ana Torres"', '"\\ud83d"', 'recipientInformation.fullName'],
    ['"package":{', '"package":{"items":[{"__proto__":1}],', 'package.items[0].__proto__'],
    ['{"recipientLocation"', '{"constructor":1,"recipientLocation"', 'constructor'],
    ['"weight":1.2', '"weight":1e999', 'package.weight'],
    ['"weight":1.2', '"weight":1e-999', 'package.weight'],
    ['"contentValue":349.5', '"contentValue":-1e999', 'package.contentValue'],
    ['"package":{', '"package":{"items":[1e999],', 'package.items[0]'],
    [
      '"package":{',
      `"package":{"items":${'['.repeat(9_000)}${']'.repeat(9_000)},`,
      `package.items${'[0]'.repeat(30)}`,
    ],
    [
      '"package":{',
      `"package":{"items":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)},`,
      `package.items${'.a'.repeat(30)}`,
    ],
  ])('%.40s as %.40s: %s', async (from, to, path) => {
    expectWrong(await account.call('/v1/shipments', { raw: orderText(from, to) }), [path]);
  });
});

describe('a refused value is named along with all other errors', () => {
  test.each([
    ['a character', orderText('"Ana Torres"', '"\\u0000"'), ['recipientInformation.fullName']],
    ['a key', orderText('{"recipientLocation"', '{"__proto__":1,"recipientLocation"'), ['__proto__']],
    ['a number', orderText('"weight":1.2', '"weight":1e999'), ['package.weight']],
  ])('%s', async (_, text, refused) => {
    const raw = text.replace(',"phone":"5512345678"', '');
    const response = await account.call('/v1/shipments?foo=1', { raw });
    const paths = [...refused, 'recipientInformation.phone', 'foo'];
    expectWrong(response, paths);
    expect(response.body.error.details).toHaveLength(paths.length);
  });

  test('if there are more than 1,000 errors, those outside lists and objects come first, and the last one counts the rest', async () => {
    const items = `[${Array(1_500).fill('"\\ud800"').join()}]`;
    const raw = orderText('"package":{', `"package":{"items":${items},`).replace(/\}$/, ',"__proto__":1}');
    const response = await account.call('/v1/shipments?foo=1', { raw });
    expectFailure(response, 400);
    const { details } = response.body.error;
    expect(details).toHaveLength(1_000);
    expect(details!.slice(0, 3).map(({ path }) => path)).toEqual(['__proto__', 'foo', 'package.items[0]']);
    expect(details!.at(-2)!.path).toBe('package.items[996]');
    expect(details!.at(-1)).toEqual({ path: 'body', message: 'has 503 more errors, which are not listed' });
    await nothingWritten();
  });

  test('a body that is not JSON is reported alone, beside errors of the query', async () => {
    const response = await account.call('/v1/shipments?foo=1', { raw: '{' });
    expect(response.body.error.details).toMatchObject([
      { path: 'body', message: expect.stringContaining('must be valid JSON: unexpected ') },
      { path: 'foo' },
    ]);
  });
});

describe('numbers', () => {
  test.each([
    '9007199254740992',
    '1e308',
    '1.7976931348623157e308',
    '5e-324',
    '-0',
    '0.1000000000000000055',
    '0.10000000000000001',
  ])('contentValue %s is accepted and returned as a number without fraction', async (number) => {
    const response = await account.call('/v1/shipments', {
      raw: orderText('"contentValue":349.5', `"contentValue":${number}`),
    });
    expectSuccess(response, 201);
    expect(response.data.package.contentValue).toBe(Math.trunc(Number(number)) + 0);
  });

  test.each(['9007199254740993', '-9007199254740993', '12345678901234567890', '1e300'])(
    'the integer %s in a field that is kept as sent returns 400: it would lose digits',
    async (number) => {
      const raw = orderText('"package":{', `"package":{"items":[{"sku":${number}}],`);
      const order = await account.call('/v1/shipments', { raw });
      expectWrong(order, ['package.items[0].sku']);
      expect(order.body.error.details![0]!.message).toContain('send it as text');
      const event = `{"state":"PICKED_UP","evidences":[${number}],"anomalies":{"code":${number}}}`;
      expectWrong(await operator(service, '/shipments/PH1/events', { raw: event }), [
        'evidences[0]',
        'anomalies.code',
      ]);
    },
  );

  test.each(['4503599627370497.26', '1e-400', '9007199254740993', '19.42702591234567890123'])(
    '%s, which would lose digits, returns 400 wherever it stands',
    async (number) => {
      const text = orderText(
        '"contentValue":349.5',
        `"contentValue":${number},"items":{"\\"a":[1,${number}]}`,
      );
      const paths = ['package.items."a[1]', 'package.contentValue'];
      const response = await account.call('/v1/shipments', { raw: text });
      expectWrong(response, paths);
      for (const { message } of response.body.error.details!) expect(message).toContain('would lose digits');
    },
  );

  test('at most 1,000 numbers are written with more digits than they need', async () => {
    const items = (count: number) =>
      JSON.stringify(Array(count).fill(0)).replaceAll('0', '0.10000000000000000');
    const order = (count: number) => orderText('"package":{', `"package":{"items":${items(count)},`);
    expectSuccess(await account.call('/v1/shipments', { raw: order(1_000) }), 201);
    expectWrong(await account.call('/v1/shipments', { raw: order(1_001) }), ['body']);
  });

  test('fractions and exact integers are kept as sent', async () => {
    const items = '[349.99,0.1,-9007199254740991,9007199254740991,"9007199254740993"]';
    const raw = orderText('"package":{', `"package":{"items":${items},`);
    const order = await account.call('/v1/shipments', { raw });
    expect(JSON.stringify(order.data.package.items)).toBe(items);
  });

  test('the last value of a duplicate key counts, as in JSON.parse', async () => {
    const response = await account.call('/v1/shipments', {
      raw: orderText('"weight":1.2', '"weight":"no","weight":2'),
    });
    expect(response.data.package.weight).toBe(2);
  });
});

describe('CR LF', () => {
  test('in an address returns 400', async () => {
    const body = { interests: ['*'], targetAddress: 'https://example.org/\r\nX-A: b' };
    expectWrong(await account.call('/v1/webhooks', { body }), ['targetAddress']);
  });

  test('between the parts of JSON is plain white space', async () => {
    const raw = JSON.stringify(sampleOrder(), null, 1).replaceAll('\n', '\r\n');
    expectSuccess(await account.call('/v1/shipments', { raw }), 201);
  });
});

test.each(['9007199254740993', '9007199254740992', '1.5', '-1', '253402300800000'])(
  'an event with the timestamp %s returns 400',
  async (timestamp) => {
    const raw = `{"state":"PICKED_UP","timestamp":${timestamp}}`;
    expectWrong(await operator(service, '/shipments/PH1/events', { raw }), ['timestamp']);
  },
);

test.each<[string, string, string | Buffer]>([
  ['cut off', 'application/json', '{"token":'],
  ['no object', 'application/json', '7'],
  ['compressed', 'application/json', gzipSync('{}')],
  ['in UTF-16', 'application/x-www-form-urlencoded; charset=utf-16', 'token=x'],
])('at /set-password, a page for people, a body that is %s returns 400 with a page', async (_, type, raw) => {
  const headers = { 'content-type': type, ...(typeof raw !== 'string' && { 'content-encoding': 'x' }) };
  const response = await request(`${service.url}/set-password`, { raw, headers });
  expect([response.httpStatus, response.headers.get('content-type')]).toEqual([
    400,
    'text/html; charset=utf-8',
  ]);
});

test('compressed bodies return 415, whatever they contain', async () => {
  for (const encoding of ['gzip', 'deflate', 'br', 'x-unknown', 'gzip, gzip']) {
    const responses = await everywhere(gzipSync('{"name":"x"}'), { 'content-encoding': encoding });
    for (const response of responses) expectFailure(response, 415);
  }
  await nothingWritten();
});

test('more than 10,000 values return 400 everywhere, whatever they are', async () => {
  for (const raw of [
    `{"name":"x","more":[${'[],'.repeat(9_998)}[]]}`, // including the body, the name and the list
    `{"a":{${Array.from({ length: 10_000 }, (_, n) => `"${n}":0`).join(',')}}}`,
    `[${'['.repeat(10_001)}`,
  ])
    for (const response of await everywhere(raw)) {
      expectWrong(response, ['body']);
      expect(response.body.error.details).toMatchObject([{ message: 'must have at most 10,000 values' }]);
    }
  await nothingWritten();
});

test('256 KiB and one byte return 413 everywhere', async () => {
  for (const response of await everywhere(`{"name":"${'x'.repeat(262_144 - 10)}"}`))
    expectFailure(response, 413);
  await nothingWritten();
});

describe('Authorization', () => {
  test.each([
    'Basic',
    'Basic ',
    'Basic :',
    'Basic !!!!',
    `Basic ${Buffer.from('no colon').toString('base64')}`,
    `Basic ${Buffer.from(':password').toString('base64')}`,
    `Basic ${Buffer.from('a\0b:password').toString('base64')}`,
    `Basic ${Buffer.from([0xff, 0xfe, 0x3a, 0xff]).toString('base64')}`,
    `Basic ${'A'.repeat(8_000)}`,
    'Basic dXNlcg== dXNlcg==',
    'Bearer',
    'Bearer ',
    'Bearer  ',
    'Bearer a b',
    'Bearer \u00e9',
    'Bearer null',
    'bearer.',
    'Digest username="x"',
    'Negotiate',
    'x',
  ])('%s returns 401 at login and elsewhere', async (authorization) => {
    for (const path of ['/v1/login', '/v1/webhooks', '/operator/v1/status']) {
      const url = `${service.url}${path}?key=${account.accountKey}`;
      expectFailure(await request(url, { headers: { authorization } }), 401);
    }
  });
});

describe('paths and queries', () => {
  test.each(['%', '%zz', '%c0%af', '%ff', '%ed%a0%80'])(
    'the junk %s in a path returns 400 or 404',
    async (junk) => {
      for (const path of ['/v1/webhooks/', '/v1/shipment-tracking/', '/v1/deliveries/', '/v1/', '/']) {
        const response = await account.call(`${path}${junk}`);
        expect([400, 404]).toContain(response.httpStatus);
        expectFailure(response, response.httpStatus);
      }
    },
  );

  test.each(['%', '%zz', '%00', '%ff', '[]=1', '[__proto__]=1', '__proto__=1', 'constructor=1', '='])(
    'the junk %s in a query breaks nothing',
    async (junk) => {
      for (const path of [
        `/v1/webhooks?${junk}`,
        `/v1/webhooks?limit=${junk}`,
        `/v1/deliveries?cursor=${junk}`,
      ])
        expect([200, 400]).toContain((await account.call(path)).httpStatus);
    },
  );

  test('a path of 8,000 characters returns 404', async () => {
    expectFailure(await account.call(`/v1/shipment-tracking/${'A'.repeat(8_000)}`), 404);
  });
});

test('afterwards the service runs, without a single unexpected error', async () => {
  expectSuccess(await account.call('/v1/webhooks'), 200);
  expect(service.log()).not.toMatch(/unexpected error|unhandled|"status":5\d\d/i);
});

describe('an object that JavaScript cannot turn into a string', () => {
  const odd = { toString: [], valueOf: 1 };

  test('is refused by the name of its field in an order, wherever it stands', async () => {
    const order: Record<string, unknown> = sampleOrder();
    const fields = Object.entries(order).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null
        ? Object.keys(value).map((inner) => ({
            path: `${name}.${inner}`,
            body: { ...order, [name]: { ...value, [inner]: odd } },
          }))
        : [{ path: name, body: { ...order, [name]: odd } }],
    );
    for (const { path, body } of fields) expectWrong(await account.call('/v1/shipments', { body }), [path]);
  });

  test.each([
    'interests',
    'targetAddress',
    'description',
    'ordering',
    'supersede',
    'maxPerSecond',
    'headers',
  ])('is refused as the %s of a webhook', async (name) => {
    const body = { interests: ['*'], targetAddress: 'https://example.org/odd', [name]: odd };
    const { httpStatus, body: failure } = await account.call('/v1/webhooks', { body });
    expect({ name, httpStatus, failure: JSON.stringify(failure) }).toMatchObject({
      httpStatus: 400,
      failure: expect.stringContaining(`"${name}`),
    });
  });
});
