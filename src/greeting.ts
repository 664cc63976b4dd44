import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { service } from './accounts/audit/audit.js';
import { registerShipper } from './accounts/shippers.js';
import { registerUser } from './accounts/users.js';
import type { App } from './app.js';
import { logInCommand, sampleOrder, shellQuoted } from './first-order.js';

interface FirstAccount {
  accountKey: string;
  email: string;
  password: string;
}

/** The printed commands append the webhook with its secret to this file. */
const webhookName = 'first-webhook.json';

/** The first start creates an account and prints commands that are ready to paste; later ones are brief. */
export async function greet(app: App, dataDir: string, simulates: boolean): Promise<void> {
  const file = join(dataDir, 'account.json');
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as FirstAccount) : null;
  const account = known ?? (await createAccount(app, file));
  // Created here so that only its owner can read it.
  closeSync(openSync(join(dataDir, webhookName), 'a', 0o600));
  for (const name of ['account.json', webhookName]) chmodSync(join(dataDir, name), 0o600);
  process.stdout.write(
    known ? laterGreeting(app.url, known, file) : firstGreeting(app.url, account, dataDir, simulates),
  );
}

async function createAccount(app: App, file: string): Promise<FirstAccount> {
  const email = 'you@example.com';
  const password = randomBytes(12).toString('base64url');
  const { shipperId, accountKey } = await registerShipper(app.db, service, 'First shipper');
  await registerUser(app.db, app.url, service, { shipperId, email, password });
  const account = { accountKey, email, password };
  writeFileSync(`${file}.new`, JSON.stringify(account, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return account;
}

/** The same order as in the README and in the examples of the API. */
const order = {
  ...sampleOrder(Date.now()),
  shipperTrackingId: 'ORDER-1001',
  shipperDropoffDate: '2030-01-15T10:00:00Z',
  expectedDeliveryDate: '2030-01-17T18:00:00Z',
};

const shellWord = (text: string) => (/^[\w./-]+$/.test(text) ? text : shellQuoted(text));

const operatorEnv = (url: string, dataDir: string) =>
  [
    ...(dataDir === 'data' ? [] : [`DATA_DIR=${shellWord(dataDir)} `]),
    ...(url === 'http://localhost:8080' ? [] : [`PARCELHOOK_URL=${url} `]),
  ].join('');

const webhookFile = (dataDir: string) => shellWord(join(dataDir, webhookName));

const advanceCommand = (url: string, dataDir: string, simulates: boolean) =>
  simulates
    ? `  Send the shipment on its way. The receiver prints one state a second, up to DELIVERED:

curl -sS -X POST "$URL/v1/shipments/$TRACKING_ID/simulate?key=$KEY" -H "$AUTH"; echo`
    : `  Send the shipment on its way:

${operatorEnv(url, dataDir)}npm run operator -- event send --tracking-id "$TRACKING_ID" --state PICKED_UP`;

/** The portal fills in the log-in from it. */
const portalLink = (url: string, { accountKey, email, password }: FirstAccount) =>
  `${url}/#${new URLSearchParams({ key: accountKey, email, password }).toString()}`;

const laterGreeting = (url: string, account: FirstAccount, file: string) => `
  Parcelhook is ready at ${url} and documented at ${url}/docs
  To open the portal, follow this link and log in. Your account, saved in ${file}, is filled in:
${portalLink(url, account)}

`;

/** Every command needs only a POSIX shell and curl. */
function firstGreeting(url: string, account: FirstAccount, dataDir: string, simulates: boolean): string {
  const { accountKey, email, password } = account;
  const json = `-H "$AUTH" -H 'Content-Type: application/json'`;
  return `
  Parcelhook is ready at ${url}

    portal        ${url}/
    documents     ${url}/docs
    account key   ${accountKey}
    e-mail        ${email}
    password      ${password}

  The account is saved in ${join(dataDir, 'account.json')}. Ctrl-C stops the service.

  To see a notification arrive, open the portal with this link and log in. The account is filled in:

${portalLink(url, account)}

  Or do the same by hand. In a second terminal, in this folder, start a receiver that prints what arrives:

npm run receiver -- --port 9000 --secret-file ${webhookFile(dataDir)}

  In a third, log in, register a webhook and place an order:

KEY=${accountKey} URL=${url}
${logInCommand(shellQuoted(`${email}:${password}`))}
AUTH="Authorization: Bearer $TOKEN"
curl -sS "$URL/v1/webhooks?key=$KEY" ${json} -d '{"interests": ["*"], "targetAddress": "http://localhost:9000/"}' | tee -a ${webhookFile(dataDir)}; echo
ORDER=$(curl -sS "$URL/v1/shipments?key=$KEY" ${json} -d '${JSON.stringify(order)}'); echo "$ORDER"
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
