import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  eraseNotification,
  renderNotification,
  withoutPersonalData,
} from '../../../src/engine/record/store.js';
import { newTrackingId } from '../../../src/shipments/accept.js';
import { eraseOrder } from '../../../src/shipments/erasure.js';
import { orderSchema, orderSchemaOf } from '../../../src/shipments/order.js';
import { sampleOrder } from '../../support/client.js';

test('a text that is too long is refused before anything else is checked in it', () => {
  const long = `${'a.'.repeat(100_000)}@`;
  const texts = {
    shipperTrackingId: long,
    lotId: long,
    shipperDropoffDate: long,
    expectedDeliveryDate: long,
    recipientInformation: { fullName: long, phone: long, email: long },
  };
  const { error } = orderSchema.safeParse({ ...sampleOrder(), ...texts });
  expect(error!.issues.map(({ path, message }) => [path.join('.'), message])).toEqual(
    [
      ...['shipperTrackingId', 'shipperDropoffDate', 'expectedDeliveryDate', 'lotId'],
      ...['recipientInformation.fullName', 'recipientInformation.phone', 'recipientInformation.email'],
    ].map((path) => [path, 'must have at most 1000 characters']),
  );
});

/** Hostile, or almost valid. */
const leaf = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('CREATED', '*', 'https://', '\u0000', '\ud800', '1e999', '', 'x@y', 0, -1, 2 ** 53, 1.5),
);

test('an order with any one field replaced is taken, or refused by the name of that field', () => {
  const paths = Object.entries(sampleOrder()).flatMap(([name, value]) =>
    typeof value === 'object' ? [[name], ...Object.keys(value).map((inner) => [name, inner])] : [[name]],
  );
  fc.assert(
    fc.property(fc.constantFrom(...paths), leaf, (path, value) => {
      const order = structuredClone(sampleOrder()) as Record<string, unknown>;
      const target = path.length > 1 ? (order[path[0]!] as Record<string, unknown>) : order;
      target[path.at(-1)!] = value;
      for (const issue of orderSchema.safeParse(order).error?.issues ?? [])
        expect(issue.path.join('.')).toMatch(new RegExp(`^${path.join('.')}`));
    }),
    { numRuns: 300 },
  );
});

describe('codes', () => {
  const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const pairs = alphabet.flatMap((first) => alphabet.map((second) => first + second));
  const triples = pairs.flatMap((pair) => alphabet.map((third) => pair + third));

  const sample = sampleOrder();
  const withCountry = (country: string) => ({
    ...sample,
    recipientLocation: { ...sample.recipientLocation, country },
  });
  const withCurrency = (valueCurrency: string) => ({
    ...sample,
    package: { ...sample.package, valueCurrency },
  });
  const { recipientLocation, package: parcel } = orderSchema.shape;
  const takesCountry = (code: string) => recipientLocation.shape.country.safeParse(code).success;
  const takesCurrency = (code: string) => parcel.shape.valueCurrency.safeParse(code).success;
  const listed = (text: string) => text.split(' ');

  describe('the currency of an order, on every Node', () => {
    test('is one of the 176 active codes of ISO 4217 that name a currency, a fund or a metal', () => {
      expect(triples.filter(takesCurrency)).toHaveLength(176);
    });

    test.each(
      listed(
        'BOV CHE CHW CLF COU MXV USN UYI UYW XAG XAU XPD XPT XBA XBB XBC XBD XDR XSU XUA XAD VED XCG SLE ZWG',
      ),
    )('may be %s', (code) => expect(takesCurrency(code)).toBe(true));

    test.each(listed('ANG BGN CUC HRK SLL ZWL XTS XXX DEM ｅｕｒ'))('is not %s', (code) =>
      expect(takesCurrency(code)).toBe(false),
    );
  });

  describe('the country of an order, on every Node', () => {
    test('is one of the 249 that ISO 3166 has assigned', () => {
      expect(pairs.filter(takesCountry)).toHaveLength(249);
    });

    test.each(listed('XK XX ZZ UK EU SU AN UN ﬁ'))('is not %s', (code) =>
      expect(takesCountry(code)).toBe(false),
    );
  });

  test('where ORDER_CHECKS is lenient, each of them is taken', () => {
    const lenient = orderSchemaOf('lenient', 16_384);
    for (const order of [withCountry('XK'), withCurrency('BGN'), withCurrency('XXX')])
      expect([lenient.safeParse(order).success, orderSchema.safeParse(order).success]).toEqual([true, false]);
  });
});

describe('erasure', () => {
  const secret = fc
    .string({ minLength: 4, maxLength: 20, unit: 'grapheme-ascii' })
    .map((text) => `~${text.trim()}~`);
  const anOrder = fc
    .record({ a: secret, b: secret, c: secret, d: secret, phone: fc.stringMatching(/^9[0-9]{9}$/) })
    .map(({ a, b, c, d, phone }) => {
      const order = sampleOrder();
      return {
        given: [a, b, c, d, phone],
        order: {
          ...order,
          recipientLocation: {
            ...order.recipientLocation,
            street: a,
            notes: b,
            postalCode: c,
            neighborhood: d,
            lat: 1,
          },
          recipientInformation: { fullName: a, phone, email: b },
          package: { ...order.package, description: c, items: [{ name: d }] },
        },
      };
    });

  test('an erased order is still an order for the same parcel, without any data of its recipient', () => {
    fc.assert(
      fc.property(anOrder, ({ given, order }) => {
        const erased = eraseOrder(order);
        const text = JSON.stringify(erased);
        for (const value of given) expect(text).not.toContain(JSON.stringify(value).slice(1, -1));
        expect(orderSchema.parse(erased)).toEqual(erased);
        expect(Object.keys(erased)).toEqual(Object.keys(order));
        expect({ ...erased.package, description: '', items: 0 }).toEqual({
          ...order.package,
          description: '',
          items: 0,
        });
        expect(eraseOrder(erased)).toEqual(erased);
      }),
    );
  });

  test('an erased notification equals one rendered without the reported details', () => {
    const shipment = { trackingId: 'PH1', shipperTrackingId: 'S' };
    fc.assert(
      fc.property(
        fc.anything({ maxDepth: 2 }),
        fc.array(fc.json()),
        fc.double(),
        (anomalies, evidences, lat) => {
          const event = {
            state: 'DELIVERED',
            anomalies: JSON.stringify(anomalies) ?? null,
            evidences,
            lat,
            lng: 2,
          };
          expect(eraseNotification(renderNotification(shipment, event, 7))).toBe(
            renderNotification(shipment, withoutPersonalData(event), 7),
          );
        },
      ),
    );
  });
});

const moment = fc.integer({ min: 0, max: 32 ** 9 - 1 });

describe('a tracking id', () => {
  test('is PH and 18 characters of Crockford base 32, which has no ambiguous ones', () => {
    fc.assert(
      fc.property(moment, (nowMs) => {
        expect(newTrackingId(nowMs)).toMatch(/^PH[0-9A-HJKMNP-TV-Z]{18}$/);
      }),
    );
    expect(newTrackingId(Date.now())).toMatch(/^PH[0-9A-HJKMNP-TV-Z]{18}$/);
    expect(newTrackingId(Date.now(), 'eu')).toMatch(/^PHEU[0-9A-HJKMNP-TV-Z]{18}$/);
  });

  test('sorts by creation time', () => {
    fc.assert(
      fc.property(moment, moment, (a, b) => {
        fc.pre(a !== b);
        expect(newTrackingId(a) < newTrackingId(b)).toBe(a < b);
      }),
    );
  });

  test('is never repeated, even within one millisecond', () => {
    const made = Array.from({ length: 10_000 }, () => newTrackingId(1_800_000_000_000));
    expect(new Set(made).size).toBe(made.length);
  });

  test('uses every character equally often at every random position', () => {
    const made = Array.from({ length: 6_400 }, () => newTrackingId(0).slice(11));
    for (let place = 0; place < 9; place += 1) {
      const counts = new Map<string, number>();
      for (const id of made) counts.set(id[place]!, (counts.get(id[place]!) ?? 0) + 1);
      expect(counts.size).toBe(32);
      for (const count of counts.values()) expect(Math.abs(count - 200)).toBeLessThan(110); // almost 8 sigma
    }
  });
});
