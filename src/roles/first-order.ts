/** The first order of a newcomer, as the greeting prints it and the portal shows it. */

/** An order with all that is required. `now` in ms; the dates lie after it. */
export function sampleOrder(now: number) {
  const inDays = (days: number) => new Date(now + days * 86_400_000).toISOString();
  return {
    recipientLocation: {
      street: 'Avenida Reforma',
      number: '222',
      administrativeArea: 'Ciudad de México',
      subAdministrativeArea: 'Cuauhtémoc',
      country: 'MX',
      neighborhood: 'Juárez',
      postalCode: '06600',
    },
    shipperTrackingId: 'FIRST-ORDER',
    shipperDropoffDate: inDays(1),
    expectedDeliveryDate: inDays(3),
    recipientInformation: { fullName: 'Ana Torres', phone: '5512345678' },
    package: {
      packageType: 'UNIT',
      description: 'Books',
      contentValue: 349,
      valueCurrency: 'MXN',
      weight: 1.2,
      weightUnit: 'KG',
      length: 30,
      width: 20,
      height: 10,
      dimensionsUnit: 'CM',
    },
  };
}

/** One argument of a POSIX shell, whatever is in it. */
export const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Logs in with `URL` and `KEY`, and sets `TOKEN`. `user` is curl's, quoted for the shell: without a password it asks for
 * one.
 */
export const logInCommand = (user: string) =>
  `TOKEN=$(curl -fsS "$URL/v1/login?key=$KEY" -u ${user} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`;
