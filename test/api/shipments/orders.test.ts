import { describe, expect, test } from '@jest/globals';
import { registerAccount, sampleOrder, type ApiResponse } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import {
  expectFailure,
  expectSuccess,
  expectWrong,
  offsetForm,
  untilState,
  uuidForm,
} from '../../support/expect.js';

const service = await sharedService();
const account = await registerAccount(service);

type Json = Record<string, any>;
const send = (body: unknown) => account.call('/v1/shipments', { body });

/** Paths are dotted; `undefined` removes the field. */
function orderWith(changes: Record<string, unknown>): Json {
  const order = sampleOrder() as Json;
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split('.');
    const last = names.pop()!;
    names.reduce<Json>((inner, name) => inner[name] as Json, order)[last] = value;
  }
  return order;
}
const accepted = async (changes: Record<string, unknown> = {}, warned: string[] = []) => {
  const response = await send(orderWith(changes));
  expectSuccess(response, 201, warned);
  return response.data;
};

const required = {
  recipientLocation: 'street number administrativeArea subAdministrativeArea country neighborhood postalCode',
  recipientInformation: 'fullName phone',
  package:
    'packageType description contentValue valueCurrency weight weightUnit length width height dimensionsUnit',
};
const requiredPaths = [
  ...Object.entries(required).flatMap(([group, names]) => names.split(' ').map((name) => `${group}.${name}`)),
  'shipperTrackingId',
  'shipperDropoffDate',
  'expectedDeliveryDate',
];

describe('the order result', () => {
  test("has exactly the specification's fields, in its order", async () => {
    const response = await send(orderWith({ lotId: 'LOT-7' }));
    expectSuccess(response, 201);
    expect(Object.keys(response.body)).toEqual(['version', 'status', 'processId', 'timestamp', 'data']);
    expect(response.body.processId).toMatch(uuidForm);
    const order = sampleOrder();
    const expected = {
      recipientLocation: { ...order.recipientLocation, intNumber: null, lat: null, lng: null },
      shipperTrackingId: 'SHIPPER-1',
      shipperDropoffDate: '2026-12-01T10:00:00+00:00',
      expectedDeliveryDate: '2026-12-03T18:00:00+00:00',
      lotId: 'LOT-7',
      recipientInformation: { ...order.recipientInformation, email: null },
      package: { ...order.package, contentValue: 349, items: null },
      dropoffLocation: expect.any(Object),
      trackingId: expect.stringMatching(/^[A-Za-z0-9]+$/),
      shipmentId: expect.stringMatching(uuidForm),
    };
    expect(response.data).toEqual(expected);
    expect(Object.keys(response.data)).toEqual(Object.keys(expected));
    for (const group of ['recipientLocation', 'recipientInformation', 'package'] as const)
      expect(Object.keys(response.data[group])).toEqual(Object.keys(expected[group]));
  });

  test('optional fields are returned as sent, or null', async () => {
    const optional = {
      lotId: 'L',
      'recipientLocation.notes': 'n',
      'recipientLocation.reference': 'r',
      'recipientLocation.intNumber': '4B',
      'recipientLocation.lat': -19.4326,
      'recipientLocation.lng': -99.1332,
      'recipientInformation.email': 'ana@example.com',
      'package.items': [{ sku: 'a', n: 2 }, null, 'x', 1.5, [true]],
    };
    const valueAt = (data: Json, path: string): unknown =>
      path.split('.').reduce<unknown>((inner, name) => (inner as Json)[name], data);
    const full = await accepted(optional);
    for (const [path, value] of Object.entries(optional)) expect(valueAt(full, path)).toEqual(value);
    for (const nothing of [undefined, null, '', '  ']) {
      const empty = await accepted(
        Object.fromEntries(
          Object.entries(optional).map(([path, value]) => [
            path,
            typeof value === 'string' || nothing === undefined ? nothing : null,
          ]),
        ),
      );
      for (const path of Object.keys(optional)) expect(valueAt(empty, path)).toBeNull();
      expect(Object.keys(empty)).toEqual(Object.keys(full));
    }
  });

  test.each([
    [0, 0],
    [0.99, 0],
    [349.5, 349],
    [1234567.999, 1234567],
    [10, 10],
  ])(
    'contentValue %d is returned without its fraction as %d; the full value is stored',
    async (sent, shown) => {
      const data = await accepted({ 'package.contentValue': sent });
      expect(data.package.contentValue).toBe(shown);
      const [row] = await service.sql<{ value: string }>(
        `select order_data::json #>> '{package,contentValue}' as value from shipments where shipment_id = $1`,
        [data.shipmentId],
      );
      expect(Number(row!.value)).toBe(sent);
    },
  );

  test.each([
    ['2026-12-01T10:00:00Z', '2026-12-01T10:00:00+00:00'],
    ['2028-02-29T23:59:59Z', '2028-02-29T23:59:59+00:00'],
    ['2026-12-01T10:00:00+00:00', '2026-12-01T10:00:00+00:00'],
    ['2026-12-01T04:00:00-06:00', '2026-12-01T10:00:00+00:00'],
    ['0004-02-29T00:00:00Z', '0004-02-29T00:00:00+00:00'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59+00:00'],
    ['2026-12-01T10:00:00.1234567Z', '2026-12-01T10:00:00.123+00:00'],
    ['2026-12-01T10:00:00.123456789+00:00', '2026-12-01T10:00:00.123+00:00'],
    ['2026-12-01T18:00Z', '2026-12-01T18:00:00+00:00'],
    ['2026-12-01T10:00:00+0000', '2026-12-01T10:00:00+00:00'],
    ['2026-12-01T04:00-06', '2026-12-01T10:00:00+00:00'],
    ['2026-12-01t10:00:00z', '2026-12-01T10:00:00+00:00'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00+00:00'],
    ['2016-12-31t23:59:60.5z', '2017-01-01T00:00:00.500+00:00'],
  ])('the date %s is returned as %s', async (sent, shown) => {
    const warned = sent < '2026' ? ['shipperDropoffDate'] : [];
    const data = await accepted({ shipperDropoffDate: sent, expectedDeliveryDate: sent }, warned);
    expect([data.shipperDropoffDate, data.expectedDeliveryDate]).toEqual([shown, shown]);
  });

  test.each(['9999-12-31T23:59:59-01:00', '0000-12-31T23:59:59Z', '0001-01-01T00:00:00+01:00'])(
    'the date %s, whose year is not four digits in ISO 8601, is refused',
    async (expectedDeliveryDate) => {
      expectWrong(await send({ ...(sampleOrder() as Json), expectedDeliveryDate }), ['expectedDeliveryDate']);
    },
  );

  test('strings are trimmed, and otherwise unchanged', async () => {
    const data = await accepted({
      shipperTrackingId: '  S 1 ',
      'recipientLocation.street': '\tCalle "Ñ" 🚚\n',
      'package.weightUnit': ' LB ',
      'package.packageType': 'any type',
      'package.valueCurrency': ' EUR',
      'recipientInformation.phone': ' 12345 ',
      'recipientLocation.country': ' mx ',
    });
    expect(data.shipperTrackingId).toBe('S 1');
    expect(data.recipientLocation.street).toBe('Calle "Ñ" 🚚');
    expect(data.package).toMatchObject({ weightUnit: 'LB', packageType: 'any type', valueCurrency: 'EUR' });
    expect(data.recipientInformation.phone).toBe('12345');
    expect(data.recipientLocation.country).toBe('MX');
  });

  test('codes may be in any case, and are stored and returned in upper case', async () => {
    const codes = { valueCurrency: 'Mxn', weightUnit: 'kg', dimensionsUnit: 'cM' };
    const order = orderWith({
      'recipientLocation.country': 'mX',
      ...Object.fromEntries(Object.entries(codes).map(([name, code]) => [`package.${name}`, code])),
    });
    const { data } = await send(order);
    expect(data.package).toMatchObject({ valueCurrency: 'MXN', weightUnit: 'KG', dimensionsUnit: 'CM' });
    expect(data.recipientLocation.country).toBe('MX');
    const [row] = await service.sql<{ stored: string }>(
      'select order_data as stored from shipments where shipment_id = $1',
      [data.shipmentId],
    );
    expect(row!.stored).toContain('"valueCurrency":"MXN"');
  });

  test('shipperTrackingId need not be unique; every order gets its own ids', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => send(sampleOrder())));
    for (const idOf of [
      (response: ApiResponse) => response.body.processId,
      (response: ApiResponse) => response.data.trackingId as string,
      (response: ApiResponse) => response.data.shipmentId as string,
    ])
      expect(new Set(responses.map(idOf)).size).toBe(20);
  });
});

test('an order can be read as it was placed, with the value in full', async () => {
  const given = orderWith({ lotId: 'LOT-7', 'package.items': [{ sku: 'a' }] });
  const placed = (await send(given)).data;
  const read = () => account.call(`/v1/shipments/${placed.trackingId}`);
  const first = await read();
  expectSuccess(first, 200);
  expect(first.data).toEqual({
    ...placed,
    package: { ...placed.package, contentValue: 349.5 },
    acceptedAt: expect.stringMatching(offsetForm),
    erasedAt: null,
  });
  expect(Math.abs(Date.parse(first.data.acceptedAt as string) - Date.now())).toBeLessThan(60_000);
  await untilState(account, placed.trackingId as string, 'CREATED');
  expect((await read()).data).toEqual(first.data);
  for (const trackingId of ['PH000000000AAAAAAAAA', 'ph1', '%00', "'"]) {
    const unknown = await account.call(`/v1/shipments/${trackingId}`);
    expectFailure(unknown, 404);
    expect(unknown.body.error.message).toContain('GET /v1/shipments?shipperTrackingId=');
  }
});

describe('the drop-off location', () => {
  test("has the specification's fields in its order and types", async () => {
    const { dropoffLocation } = await accepted();
    const text = expect.stringMatching(/./);
    const expected = {
      street: text,
      administrativeArea: text,
      subAdministrativeArea: text,
      country: 'MX',
      neighborhood: text,
      neighborhoodType: 'Suburb',
      zipCode: '45050', // the nearest to the recipient's
      lat: expect.any(Number),
      lng: expect.any(Number),
      number: text,
      intNumber: null,
      reference: text,
      observations: text,
    };
    expect(dropoffLocation).toEqual(expected);
    expect(Object.keys(dropoffLocation)).toEqual(Object.keys(expected));
  });
});

describe('required fields of an order', () => {
  test.each(requiredPaths)('%s', async (path) => {
    expectWrong(await send(orderWith({ [path]: undefined })), [path]);
    expectWrong(await send(orderWith({ [path]: null })), [path]);
    expectWrong(await send(orderWith({ [path]: [] })), [path]);
    const isNumber = /contentValue|weight$|length|width|height/.test(path);
    expectWrong(await send(orderWith({ [path]: isNumber ? '1' : 1 })), [path]);
    if (!isNumber) expectWrong(await send(orderWith({ [path]: '  ' })), [path]);
  });

  test('all missing fields are named at once', async () => {
    const order = { recipientLocation: {}, recipientInformation: {}, package: {} };
    expectWrong(await send(order), requiredPaths);
    expectWrong(await send({}), [...Object.keys(required), ...requiredPaths.slice(-3)]);
  });

  test('optional fields of the wrong type are named too', async () => {
    const wrong = {
      lotId: 1,
      'recipientLocation.notes': {},
      'recipientLocation.reference': [],
      'recipientLocation.intNumber': 4,
      'recipientLocation.lat': '19',
      'recipientLocation.lng': 181,
      'recipientInformation.email': false,
    };
    expectWrong(await send(orderWith(wrong)), Object.keys(wrong));
  });

  test.each<[string, unknown[]]>([
    ['recipientInformation.phone', ['1234', '1'.repeat(21), '+525512345678', '55 1234 5678', '１２３４５']],
    ['recipientLocation.country', ['M', 'MEX', '12', 'Mé']],
    ['package.weight', [0, -1]],
    ['package.length', [0, -0.1]],
    ['package.width', [0]],
    ['package.height', [0]],
    ['package.contentValue', [-0.01]],
    ['recipientLocation.lat', [90.1, -91]],
    ['recipientLocation.notes', ['x'.repeat(1_001)]],
    ['shipperTrackingId', ['x'.repeat(1_001)]],
    [
      'shipperDropoffDate',
      (
        '2026-02-30T00:00:00Z 2026-13-01T00:00:00Z 2027-02-29T00:00:00Z 2026-12-01T24:00:00Z ' +
        '2026-12-01T10:60:00Z 2026-12-01T10:00:60Z 2026-12-01T10:00:00 2026-12-01_10:00:00Z 2026-12-01 ' +
        '1795267009 tomorrow 2026-12-01T10:00:00+25:00'
      )
        .split(' ')
        .map((date) => date.replace('_', ' ')),
    ],
  ])('%s does not accept %j', async (path, values) => {
    for (const value of values) expectWrong(await send(orderWith({ [path]: value })), [path]);
  });

  test('1,000 characters are accepted', async () => {
    await accepted({
      shipperTrackingId: 'x'.repeat(1_000),
      'recipientLocation.notes': ` ${'y'.repeat(1_000)} `,
    });
  });
});
