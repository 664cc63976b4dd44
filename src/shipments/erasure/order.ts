import type { Order } from '../order.js';

const erased = 'ERASED';

/**
 * The order without what tells of its recipient: name, phone, e-mail, address, and free text. What stays are
 * identifiers, dates, measures and the country. It still has the form of an order.
 */
export const eraseOrder = (order: Order): Order => ({
  ...order,
  recipientLocation: {
    street: erased,
    number: erased,
    administrativeArea: erased,
    subAdministrativeArea: erased,
    country: order.recipientLocation.country,
    neighborhood: erased,
    postalCode: erased,
    notes: null,
    reference: null,
    intNumber: null,
    lat: null,
    lng: null,
  },
  recipientInformation: { fullName: erased, phone: '00000', email: null },
  package: { ...order.package, description: erased, items: null },
});
