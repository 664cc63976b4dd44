/** Verifies a notification with nothing but the language's own library. The same is in the README, with its reasons. */
export const verifySnippets = {
  'Node.js': `import { createHmac, timingSafeEqual } from 'node:crypto';

const key = Buffer.from(process.env.PARCELHOOK_SECRET.replace('whsec_', ''), 'base64');

// rawBody: the bytes as they came. JSON that was parsed and written again does not verify.
export function verify(headers, rawBody) {
  const [id, timestamp, signatures] =
    ['id', 'timestamp', 'signature'].map((name) => headers[\`webhook-\${name}\`]);
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const hmac = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(rawBody);
  const expected = Buffer.from(\`v1,\${hmac.digest('base64')}\`);
  return String(signatures).split(' ').map((given) => Buffer.from(given))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}`,
  Python: `import base64, hashlib, hmac, os, time

key = base64.b64decode(os.environ["PARCELHOOK_SECRET"].removeprefix("whsec_"))


# raw_body: the bytes as they came. JSON that was parsed and written again does not verify.
def verify(headers, raw_body: bytes) -> bool:
    try:
        id, timestamp, signatures = (headers["webhook-" + name] for name in ("id", "timestamp", "signature"))
        if abs(time.time() - int(timestamp)) > 300:
            return False
    except (KeyError, ValueError):
        return False
    digest = hmac.digest(key, f"{id}.{timestamp}.".encode() + raw_body, hashlib.sha256)
    expected = b"v1," + base64.b64encode(digest)
    return any(hmac.compare_digest(given.encode(), expected) for given in signatures.split(" "))`,
};

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

/** The same order from a terminal. `key` is the account key, empty if this browser does not know it. */
export function orderCommand(origin: string, key: string, email: string, order: object): string {
  const word = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return `URL=${origin} KEY=${word(key || 'your account key')}
TOKEN=$(curl -s "$URL/v1/login?key=$KEY" -u ${word(email)} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
curl "$URL/v1/shipments?key=$KEY" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d ${word(JSON.stringify(order))}`;
}
