import { describe, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount, registerWebhook, sampleOrder } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectFailure, expectSuccess, expectWrong } from '../../support/expect.js';

const service = await sharedService();
const account = await registerAccount(service);

const order = (body: object, on = account) => on.call('/v1/shipments', { body });
const withPart = (part: 'recipientLocation' | 'recipientInformation' | 'package', changes: object) => {
  const sample = sampleOrder();
  return { ...sample, [part]: { ...sample[part], ...changes } };
};
const problems = async (body: object) =>
  Object.fromEntries((await order(body)).body.error.details!.map(({ path, message }) => [path, message]));

describe('a field that the endpoint does not have', () => {
  const warnings = (body: object) => (body as { warnings?: object[] }).warnings;

  test('is ignored, and named in the response with the nearest one that there is', async () => {
    const sample = sampleOrder();
    const response = await order({
      ...sample,
      lotID: 'LOT-7',
      colour: 'red',
      package: { ...sample.package, dimensionUnit: 'CM' },
    });
    expectSuccess(response, 201, ['lotID', 'colour', 'package.dimensionUnit']);
    expect(JSON.stringify(response.data)).not.toMatch(/lotID|colour|dimensionUnit"/);
    const ignored = 'is not a field of this request and was ignored';
    expect(warnings(response.body)).toEqual([
      { path: 'lotID', message: `${ignored}; did you mean lotId?` },
      { path: 'colour', message: ignored },
      { path: 'package.dimensionUnit', message: `${ignored}; did you mean dimensionsUnit?` },
    ]);
  });

  test('is named by every endpoint that takes a body, and in every event of many', async () => {
    const { webhookId } = await registerWebhook(account, 'https://example.org/hook');
    const patched = await account.call(`/v1/webhooks/${webhookId}`, {
      method: 'PATCH',
      body: { description: 'x', supersedes: true },
    });
    expectSuccess(patched, 200, ['supersedes']);
    const shipper = await operator(service, '/shippers', { body: { name: 'Books', nmae: 'Book' } });
    expectSuccess(shipper, 201, ['nmae']);
    const trackingId = await placeOrder(account);
    const events = [
      { trackingId, state: 'PICKED_UP', latitude: 1 },
      { trackingId, state: 'IN_TRANSIT' },
    ];
    expectSuccess(await operator(service, '/events', { body: { events } }), 202, ['events[0].latitude']);
  });

  test('is named beside the required one that it was meant to be', async () => {
    const response = await account.call('/v1/webhooks', {
      body: { interests: ['*'], targetURL: 'https://example.org/hook', colour: 'red' },
    });
    expectFailure(response, 400);
    expect(response.body.error.details).toEqual([
      { path: 'targetAddress', message: 'is required: a string' },
      { path: 'targetURL', message: 'is not a field of this request; did you mean targetAddress?' },
      { path: 'colour', message: 'is not a field of this request' },
    ]);
    const { webhookId } = await registerWebhook(account, 'https://example.org/hook');
    const changed = await account.call(`/v1/webhooks/${webhookId}`, {
      method: 'PATCH',
      body: { targetAdress: 'https://example.org/other', colour: 'red' },
    });
    expect(changed.body.error.details).toEqual([
      { path: 'body', message: expect.stringMatching(/^must have at least one of interests, targetAddress/) },
      { path: 'targetAdress', message: 'is not a field of this request; did you mean targetAddress?' },
    ]);
    const events = await operator(service, '/events', {
      body: { events: [{ tracking_id: 'PH1', state: 'LOST' }] },
    });
    expect(events.data.results).toMatchObject([
      { error: { details: [{ path: 'trackingId' }, { path: 'tracking_id' }] } },
    ]);
  });

  test('is named beside the required one whose other name it may be', async () => {
    const sample = sampleOrder();
    const { postalCode: zipCode, ...place } = sample.recipientLocation;
    expect(await problems({ ...sample, colour: 'red', recipientLocation: { ...place, zipCode } })).toEqual({
      'recipientLocation.postalCode': 'is required: a string',
      'recipientLocation.zipCode': 'is not a field of this request',
    });
    const url = 'https://example.org/hook';
    const webhook = await account.call('/v1/webhooks', { body: { url, events: ['*'] } });
    expectWrong(webhook, ['interests', 'targetAddress', 'url', 'events']);
  });

  test('is named if it is among the first hundred, outer fields before nested ones; the rest are counted', async () => {
    const ignoredOf = async (count: number) => {
      const many = Object.fromEntries(Array.from({ length: count }, (_, index) => [`lotId${index}`, index]));
      const sample = sampleOrder();
      const response = await order({ ...many, ...sample, package: { ...sample.package, colour: 'red' } });
      expect(response.httpStatus).toBe(201);
      return warnings(response.body) as { path: string; message: string }[];
    };
    expect(await ignoredOf(99)).toHaveLength(100);
    expect((await ignoredOf(100)).slice(99)).toEqual([
      expect.objectContaining({ path: 'lotId99' }),
      { path: 'body', message: '1 more field is not a field of this request and was ignored' },
    ]);
    expect((await ignoredOf(5_000)).slice(99)).toEqual([
      expect.objectContaining({ path: 'lotId99' }),
      { path: 'body', message: '4901 more fields are not fields of this request and were ignored' },
    ]);
    const events = Array<object>(1_000).fill({ trackingId: 'PH1', state: 'LOST', colour: 'red' });
    const bulk = await operator(service, '/events', { body: { events, evnts: [] } });
    expect(warnings(bulk.body)!.slice(0, 2)).toMatchObject([{ path: 'evnts' }, { path: 'events[0].colour' }]);
  });
});

describe('a cursor', () => {
  const cursorOf = async (path: string) => (await account.call(path)).data.nextCursor as string;

  test('continues its own list with its own filters only', async () => {
    for (let count = 0; count < 3; count += 1) await placeOrder(account, 'TWICE');
    const filter = '/v1/shipments?limit=1&shipperTrackingId=TWICE';
    const cursor = await cursorOf(filter);
    expectSuccess(await account.call(`${filter}&cursor=${cursor}`), 200);
    expectSuccess(await account.call(`${filter.replace('limit=1', 'limit=2')}&cursor=${cursor}`), 200);
    for (const path of [
      '/v1/shipments?limit=1',
      '/v1/shipments?limit=1&shipperTrackingId=ONCE',
      `${filter}&from=2020-01-01`,
      '/v1/deliveries?limit=1',
      '/v1/webhooks?limit=1',
    ])
      expectWrong(await account.call(`${path}&cursor=${cursor}`), ['cursor']);
  });

  test('continues the list of its own account only', async () => {
    const other = await registerAccount(service);
    for (let count = 0; count < 2; count += 1) {
      await placeOrder(account);
      await registerWebhook(account, 'https://example.org/hook');
    }
    for (const path of ['/v1/shipments?limit=1', '/v1/webhooks?limit=1']) {
      const cursor = await cursorOf(path);
      expectSuccess(await account.call(`${path}&cursor=${cursor}`), 200);
      expectWrong(await other.call(`${path}&cursor=${cursor}`), ['cursor']);
    }
  });
});

describe('a filter', () => {
  test.each(['/v1/shipments', '/v1/deliveries'])(
    '%s names the states if it has not that one',
    async (path) => {
      const response = await account.call(`${path}?state=DELIVERD`);
      expectWrong(response, ['state']);
      expect(response.body.error.details![0]!.message).toMatch(
        /^must be one of CREATED, PICKED_UP, .*; did you mean DELIVERED\?$/,
      );
    },
  );

  test('by state that has a status says which filter is meant, and the other way round', async () => {
    const messageOf = async (query: string) =>
      (await account.call(`/v1/deliveries?${query}`)).body.error.details![0]!.message;
    expect(await messageOf('state=FAILED')).toBe('must be a state; FAILED is a status: use status=FAILED');
    expect(await messageOf('status=DELIVERED')).toBe(
      'must be a status; DELIVERED is a state: use state=DELIVERED',
    );
    expect(await messageOf('status=FAILD')).toMatch(/^must be one of PENDING, .*; did you mean FAILED\?$/);
    expect(await messageOf('from=2026-11-21T12:00')).toBe('has no offset: add Z or -06:00');
  });

  test('by status lists the webhooks that have it, and names the statuses there are', async () => {
    const { webhookId } = await registerWebhook(account, 'https://example.org/paused', { status: 'PAUSED' });
    const { data } = await account.call('/v1/webhooks?status=PAUSED');
    expect((data.webhooks as { webhookId: string }[]).map((webhook) => webhook.webhookId)).toEqual([
      webhookId,
    ]);
    expect((await account.call('/v1/webhooks?status=DISABLED')).data.webhooks).toEqual([]);
    expectWrong(await account.call('/v1/webhooks?status=paused'), ['status']);
  });

  test.each(['1795267009', '1', '978307199999'])('does not take %s, seconds, as a time', async (time) => {
    for (const path of ['/v1/shipments', '/v1/deliveries', '/v1/events']) {
      const response = await account.call(`${path}?from=${time}`);
      expectWrong(response, ['from']);
      expect(response.body.error.details![0]!.message).toMatch(/looks like seconds$/);
    }
  });

  test.each(['978307200000', '1795267009000', '2026-11-21', '2026-11-21T12:00:00Z', '1999-01-01'])(
    'takes %s as a time',
    async (time) => expectSuccess(await account.call(`/v1/shipments?from=${time}`), 200),
  );
});

test('the time of an event is not in seconds', async () => {
  const event = { state: 'PICKED_UP', timestamp: 1_795_267_009 };
  expectWrong(await operator(service, '/shipments/PH1/events', { body: event }), ['timestamp']);
});

describe('an order', () => {
  test.each([
    ['package', 'weightUnit', ['STONE', 'ｋｇ']],
    ['package', 'dimensionsUnit', ['FT', 'ﬁ']],
    ['recipientInformation', 'email', ['nope', 'ana@', '@example.com', 'ana@example', 'a b@example.com']],
  ] as const)('%s.%s does not take %j', async (part, field, values) => {
    for (const value of values)
      expectWrong(await order(withPart(part, { [field]: value })), [`${part}.${field}`]);
  });

  test.each([
    ['package', { valueCurrency: 'USD', weightUnit: 'OZ', dimensionsUnit: 'IN' }],
    ['package', { valueCurrency: 'JPY', weightUnit: 'G', dimensionsUnit: 'MM' }],
    ['recipientLocation', { country: 'gb' }],
    ['recipientInformation', { email: 'josé.ñ+1@correo.example.mx' }],
    ['recipientInformation', { email: null }],
  ] as const)('takes %s with %j', async (part, changes) =>
    expectSuccess(await order(withPart(part, changes)), 201),
  );

  test('says what would be right', async () => {
    const sample = sampleOrder();
    expect(
      await problems({
        ...sample,
        expectedDeliveryDate: '2026-12-01T09:59:59Z',
        recipientInformation: { ...sample.recipientInformation, phone: '+525512345678', email: 'nope' },
        recipientLocation: { ...sample.recipientLocation, country: 'XK' },
        package: { ...sample.package, weightUnit: 'KGS', valueCurrency: 'BGN' },
      }),
    ).toEqual({
      expectedDeliveryDate: 'must not be before shipperDropoffDate',
      'recipientInformation.phone': 'must be 5 to 20 digits; leave out the +',
      'recipientInformation.email': 'must be an e-mail address, such as ana@example.com',
      'recipientLocation.country': 'must be a two-letter country code (ISO 3166), such as MX',
      'package.valueCurrency': 'must be a currency code (ISO 4217), such as MXN',
      'package.weightUnit': 'must be one of KG, G, LB, OZ; did you mean KG?',
    });
  });

  test('says what is to be left out, and what to be added', async () => {
    const phone = async (given: string) =>
      (await problems(withPart('recipientInformation', { phone: given })))['recipientInformation.phone'];
    expect(await phone('55 1234 5678')).toBe('must be 5 to 20 digits; leave out the spaces');
    expect(await phone('+52 (55) 1234-5678')).toBe(
      'must be 5 to 20 digits; leave out the + and the spaces and the signs',
    );
    expect(await phone('55\u00A012345678')).toBe('must be 5 to 20 digits; leave out the spaces');
    expect(await phone('nobody')).toBe('must be 5 to 20 digits');
    expect(await problems(withPart('package', { weight: '1.2' }))).toEqual({
      'package.weight': 'must be a number; leave out the quotation marks',
    });
    const usual = 'must be a valid time in ISO 8601 with an offset, such as 2026-11-21T12:00:00Z';
    expect(await problems({ ...sampleOrder(), shipperDropoffDate: 1_795_995_824_004 })).toEqual({
      shipperDropoffDate: usual,
    });
    const timesEnd = 'hours go up to 23, minutes and seconds to 59';
    for (const time of ['2030-01-15T10:00:00', '2030-01-15t10:00', '2030-01-15T10:00:00.123'])
      expect(await problems({ ...sampleOrder(), shipperDropoffDate: time })).toEqual({
        shipperDropoffDate: 'has no offset: add Z or -06:00',
      });
    for (const [time, message] of [
      ['2026-02-31T10:00:00Z', 'has a day that does not exist: 2026-02-31'],
      ['2027-02-29T10:00:00', 'has a day that does not exist: 2027-02-29'],
      ['2026-13-01T10:00:00Z', 'has a day that does not exist: 2026-13-01'],
      ['2026-02-31', 'has a day that does not exist: 2026-02-31'],
      ['2026-12-01T25:00:00Z', `has a time that does not exist: 25:00:00; ${timesEnd}`],
      ['2026-12-01T10:61-06:00', `has a time that does not exist: 10:61; ${timesEnd}`],
      ['2026-12-01T10:00:60Z', `has a time that does not exist: 10:00:60; ${timesEnd}`],
      ['2026-12-01T10:00:00+24:00', usual],
      ['2026-12-01', usual],
    ])
      expect(await problems({ ...sampleOrder(), shipperDropoffDate: time })).toEqual({
        shipperDropoffDate: message,
      });
  });

  test('that was to be handed in long ago is accepted with a warning', async () => {
    const response = await order({ ...sampleOrder(), shipperDropoffDate: '2020-01-15T10:00:00Z' });
    expectSuccess(response, 201, ['shipperDropoffDate']);
  });

  test('may be delivered at the time of its drop-off', async () => {
    const at = '2026-12-01T10:00:00Z';
    expectSuccess(
      await order({
        ...sampleOrder(),
        shipperDropoffDate: at,
        expectedDeliveryDate: '2026-12-01T04:00:00-06:00',
      }),
      201,
    );
  });
});

test("tracking by the shipper's own identifier says where to look it up", async () => {
  await placeOrder(account, 'ORDER-1001');
  const response = await account.call('/v1/shipment-tracking/ORDER-1001');
  expectFailure(response, 404);
  expect(response.body.error.message).toContain('GET /v1/shipments?shipperTrackingId=');
});

test.each([
  ['/v1/webhook', '/v1/webhooks'],
  ['/webhooks', '/v1/webhooks'],
  ['/V1/webhooks', '/v1/webhooks'],
  ['/v1/webhook/an-id', '/v1/webhooks/{webhookId}'],
  ['/v1/shipment-tracking/', '/v1/shipment-tracking/{trackingId}'],
  ['/operator/v1/shipper', '/operator/v1/shippers'],
])('the 404 of %s names %s', async (path, meant) => {
  const response = await account.call(path);
  expectFailure(response, 404);
  expect(response.body.error.message).toBe(`This endpoint was not found. Did you mean ${meant}? See /docs.`);
});

test.each([
  ['//v1/login', '/v1/login'],
  ['/v1//webhooks', '/v1/webhooks'],
  ['///v1/shipment-tracking//x', '/v1/shipment-tracking/{trackingId}'],
])('the 404 of %s says that it has a doubled slash, and names %s', async (path, meant) => {
  const response = await account.call(path);
  expectFailure(response, 404);
  expect(response.body.error.message).toBe(
    `This endpoint was not found. Its path has a doubled slash: does the base URL end in one? Did you mean ${meant}? See /docs.`,
  );
});

test('the 404 of an endpoint unlike any other names the documentation', async () => {
  const response = await account.call('/v1/nothing');
  expect(response.body.error.message).toBe('This endpoint was not found. See /docs.');
});

test.each([
  ['{"a": }', 'unexpected } at line 1, column 7'],
  ['{\n  "a": 1,\n}', 'unexpected } at line 3, column 1'],
  ['\ufeff[1 2]', 'unexpected 2 at line 1, column 4'],
  ["{'a': 1}", "unexpected ' at line 1, column 2"],
  ['{"a": 1', 'unexpected end at line 1, column 8'],
  ['{"a": 1}}', 'unexpected } at line 1, column 9'],
  ['{"a": nul}', 'unexpected n at line 1, column 7'],
  ['{"a": é}', 'unexpected character at line 1, column 7'],
  ['[{}, [], -1.5e3, true, null, {"a": "\\u00e9"}, "\\x"]', 'unexpected \\ at line 1, column 48'],
])('the 400 of %j, which is not JSON, says where that begins', async (raw, place) => {
  const response = await account.call('/v1/webhooks', { raw });
  expectFailure(response, 400);
  expect(response.body.error.details![0]!.message).toContain(`must be valid JSON: ${place}`);
});

test('the 415 says what was sent', async () => {
  const post = (headers: Record<string, string>) =>
    fetch(`${service.url}/v1/shipments?key=${account.accountKey}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.token}`, ...headers },
      body: '{}',
    }).then(async (response) => ((await response.json()) as { error: { message: string } }).error.message);
  expect(await post({ 'content-type': 'text/plain' })).toMatch(
    /The request has Content-Type: text\/plain\.$/,
  );
  expect(await post({ 'content-type': 'application/json', 'content-encoding': 'gzip' })).toMatch(
    / The request has Content-Encoding: gzip\.$/,
  );
});

test('the name of a state in small letters is corrected', async () => {
  const response = await account.call('/v1/webhooks', {
    body: { interests: ['picked-up', 'é'], targetAddress: 'https://example.org/hook' },
  });
  expect(response.body.error.details!.map(({ message }) => message)).toEqual([
    'must be * or a state name of A to Z, 0 to 9 and _; did you mean PICKED_UP?',
    'must be * or a state name of A to Z, 0 to 9 and _, such as CREATED',
  ]);
});

test('no message is a sentence of the library that checks', async () => {
  const responses = await Promise.all([
    order(withPart('recipientLocation', { lat: 91, lng: 'x', street: 7, notes: [] })),
    order(withPart('package', { weight: 0, contentValue: -1, items: {}, length: null })),
    account.call('/v1/webhooks', {
      body: { interests: [], targetAddress: 1, headers: 'x', supersede: 'yes', status: 1 },
    }),
    account.call('/v1/deliveries?status=NO&webhookId=1&limit=x'),
    operator(service, `/shippers/${account.shipperId}/users`, {
      body: { email: `${'a'.repeat(250)}@example.com` },
    }),
    operator(service, '/shippers', { body: { name: 'x'.repeat(1_001) } }),
    operator(service, '/shipments/PH1/events', {
      body: { state: 1, lat: 91, timestamp: 1e15, evidences: {} },
    }),
    operator(service, '/audit?action=x&outcome=y'),
  ]);
  const messages = responses.flatMap(({ body }) => body.error.details!.map(({ message }) => message));
  expect(messages.length).toBeGreaterThan(20);
  for (const message of messages) {
    expect(message).toMatch(/^(must|is|has|appears|the|cannot)/i);
    expect(message).not.toMatch(/Invalid|Too (big|small)|expected|received/);
  }
});
