import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  eraseNotification,
  renderNotification,
  withoutPersonalData,
} from '../../../../src/engine/record/notification.js';
import { eraseOrder } from '../../../../src/shipments/erasure/erase.js';
import { orderSchema } from '../../../../src/shipments/order.js';
import { sampleOrder } from '../../../support/client.js';

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
