/** The commands that a newcomer pastes, as the first start prints them and the portal shows them. */
import { logInCommand, shellQuoted } from '../http/docs/curl.js';

export interface FirstAccount {
  accountKey: string;
  email: string;
  password: string;
}

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

/** The order of the README and of the API's examples. */
const order = () => ({
  ...sampleOrder(Date.now()),
  shipperTrackingId: 'ORDER-1001',
  shipperDropoffDate: '2030-01-15T10:00:00Z',
  expectedDeliveryDate: '2030-01-17T18:00:00Z',
});

const shellWord = (text: string) => (/^[\w./-]+$/.test(text) ? text : shellQuoted(text));

const operatorEnv = (url: string, dataDir: string) =>
  [
    ...(dataDir === 'data' ? [] : [`DATA_DIR=${shellWord(dataDir)} `]),
    ...(url === 'http://localhost:8080' ? [] : [`PARCELHOOK_URL=${url} `]),
  ].join('');

const advanceCommand = (url: string, dataDir: string, simulates: boolean) =>
  simulates
    ? `  Send the shipment on its way. The receiver prints one state a second, up to DELIVERED:

curl -sS -X POST "$URL/v1/shipments/$TRACKING_ID/simulate?key=$KEY" -H "$AUTH"; echo`
    : `  Send the shipment on its way:

${operatorEnv(url, dataDir)}npm run operator -- event send --tracking-id "$TRACKING_ID" --state PICKED_UP`;

/** The portal fills in the log-in from it. */
const portalLink = (url: string, { accountKey, email, password }: FirstAccount) =>
  `${url}/#${new URLSearchParams({ key: accountKey, email, password }).toString()}`;

export const laterGreeting = (url: string, account: FirstAccount, file: string) => `
  Parcelhook is ready at ${url} and documented at ${url}/docs
  To open the portal, follow this link and log in. Your account, saved in ${file}, is filled in:
${portalLink(url, account)}

`;

/** Every command needs only a POSIX shell and curl. */
export function firstGreeting(
  url: string,
  account: FirstAccount,
  files: { dataDir: string; account: string; webhook: string },
  simulates: boolean,
): string {
  const { accountKey, email, password } = account;
  const { dataDir } = files;
  const webhookFile = shellWord(files.webhook);
  const json = `-H "$AUTH" -H 'Content-Type: application/json'`;
  return `
  Parcelhook is ready at ${url}

    portal        ${url}/
    documents     ${url}/docs
    account key   ${accountKey}
    e-mail        ${email}
    password      ${password}

  The account is saved in ${files.account}. Ctrl-C stops the service.

  To see a notification arrive, open the portal with this link and log in. The account is filled in:

${portalLink(url, account)}

  Or do the same by hand. In a second terminal, in this folder, start a receiver that prints what arrives:

npm run receiver -- --port 9000 --secret-file ${webhookFile}

  In a third, log in, register a webhook and place an order:

KEY=${accountKey} URL=${url}
${logInCommand(shellQuoted(`${email}:${password}`))}
AUTH="Authorization: Bearer $TOKEN"
curl -sS "$URL/v1/webhooks?key=$KEY" ${json} -d '{"interests": ["*"], "targetAddress": "http://localhost:9000/"}' | tee -a ${webhookFile}; echo
ORDER=$(curl -sS "$URL/v1/shipments?key=$KEY" ${json} -H "Idempotency-Key: order-$(date +%s)" -d '${JSON.stringify(order())}'); echo "$ORDER"
TRACKING_ID=$(echo "$ORDER" | sed 's/.*"trackingId":"\\([^"]*\\)".*/\\1/')

${advanceCommand(url, dataDir, simulates)}

  See where it is, what was sent, and which shipments you have:

curl -sS "$URL/v1/shipment-tracking/$TRACKING_ID?key=$KEY" -H "$AUTH"; echo
curl -sS "$URL/v1/deliveries?key=$KEY" -H "$AUTH"; echo
curl -sS "$URL/v1/shipments?key=$KEY&shipperTrackingId=ORDER-1001" -H "$AUTH"; echo

  See how the service is doing:

${operatorEnv(url, dataDir)}npm run operator -- status

`;
}
