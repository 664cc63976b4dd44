import { describe, expect, test } from '@jest/globals';
import { sampleOrder } from '../../support/client.js';
import { orderSchema, orderSchemaOf } from '../../../src/shipments/order.js';

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

  test.each(listed('ANG BGN CUC HRK SLL ZWL XTS XXX DEM eur'))('is not %s', (code) =>
    expect(takesCurrency(code)).toBe(false),
  );
});

describe('the country of an order, on every Node', () => {
  test('is one of the 249 that ISO 3166 has assigned', () => {
    expect(pairs.filter(takesCountry)).toHaveLength(249);
  });

  test.each(listed('XK XX ZZ UK EU SU AN UN'))('is not %s', (code) => expect(takesCountry(code)).toBe(false));
});

test('where ORDER_CHECKS is lenient, each of them is taken', () => {
  const lenient = orderSchemaOf('lenient');
  for (const order of [withCountry('XK'), withCurrency('BGN'), withCurrency('XXX')])
    expect([lenient.safeParse(order).success, orderSchema.safeParse(order).success]).toEqual([true, false]);
});
