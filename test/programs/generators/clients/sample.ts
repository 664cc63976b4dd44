export const {
  PARCELHOOK_URL: url = '',
  PARCELHOOK_KEY: key = '',
  PARCELHOOK_TOKEN: token = '',
} = process.env;

export const webhook = { interests: ['DELIVERED'], targetAddress: 'https://example.com/hooks/generated' };

export const order = {
  recipientLocation: {
    street: 'Avenida Reforma',
    number: '222',
    administrativeArea: 'Ciudad de México',
    subAdministrativeArea: 'Cuauhtémoc',
    country: 'MX',
    neighborhood: 'Juárez',
    postalCode: '06600',
    lat: 19.427,
    lng: -99.1677,
  },
  shipperTrackingId: 'ORDER-1001',
  shipperDropoffDate: '2030-01-15T10:00:00Z',
  expectedDeliveryDate: '2030-01-17T18:00:00Z',
  recipientInformation: { fullName: 'Ana Torres', phone: '5512345678' },
  package: {
    packageType: 'UNIT',
    description: 'Books',
    contentValue: 1234567.89,
    valueCurrency: 'MXN',
    weight: 1.2,
    weightUnit: 'KG',
    length: 30,
    width: 20,
    height: 10,
    dimensionsUnit: 'CM',
    items: [{ title: 'Pedro Páramo' }],
  },
};
