/**
 * `npm run portal:pictures`: draws the pictures of the portal in `docs/portal` anew, from the real service with sample
 * orders, healthy webhooks and one that fails.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresIn, type Closing } from '../programs/chaos/world/engines.js';
import { inRepository } from '../programs/draw/paths.js';
import { withFewColors } from '../programs/draw/png.js';
import { operator, placeOrder, registerAccount, type Account } from '../support/client.js';
import { deliveriesOf, startHook, untilFound, type Hook } from '../support/deliveries.js';
import { operatorToken, startProcess, stopProcess } from '../support/process.js';
import { until } from '../support/until.js';
import { desk, endBrowser, launch, logIn, placesOf } from './launch.js';

const maxBytes = 150_000;
const colors = 64;
const folder = inRepository('docs/portal');
const some = ['PICKED_UP', 'OUT_FOR_DELIVERY', 'DELIVERED'];

const closing: Closing = [];
try {
  await draw();
} finally {
  for (const close of closing.reverse()) await close();
}

async function draw(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'parcelhook-pictures-'));
  closing.push(() => rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const postgres = await postgresIn(home, closing);
  const service = await startProcess({
    DATABASE_URL: postgres.url,
    TOKEN_SECRET: 'a secret for as long as the pictures take',
    SECRETS_KEY: '00'.repeat(32),
    OPERATOR_TOKEN: operatorToken,
    ALLOW_PRIVATE_TARGETS: 'true',
    ALLOW_HTTP_TARGETS: 'true',
    SIMULATE: 'true',
    PORT: '0',
  });
  closing.push(() => stopProcess(service));
  const account = await registerAccount(service);
  await operator(service, `/shippers/${account.shipperId}`, {
    method: 'PATCH',
    body: { name: 'Example Shop' },
  });
  const { failing, shown } = await fill(account, postgres.sql);

  closing.push(endBrowser);
  const page = await (await launch(service.url)).newPage();
  await page.goto('/webhooks');
  await logIn(page, account);
  await placesOf(page).waitFor();
  const picture = async (name: string, path: string, height: number, isReady: () => Promise<unknown>) => {
    await page.setViewportSize({ ...desk, height });
    await page.goto(path);
    await isReady();
    await page.mouse.move(0, 0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const png = withFewColors(await page.screenshot(), colors);
      if (png.length > maxBytes) throw new Error(`${name} has ${png.length} bytes`);
      const file = `${name}${colorScheme === 'dark' ? '-dark' : ''}.png`;
      writeFileSync(join(folder, file), png);
      console.log(`${file}: ${Math.ceil(png.length / 1_000)} kB`);
    }
  };
  mkdirSync(folder, { recursive: true });
  await picture('webhooks', '/webhooks', 460, () => page.getByText('Circuit open').waitFor());
  const [failed] = (await deliveriesOf(account, failing.webhookId)).filter((one) => one.attemptCount > 0);
  await picture('deliveries', `/deliveries/${failed!.deliveryId}`, 900, () =>
    page.getByText('Your server responded 503').first().waitFor(),
  );
  await picture('shipments', `/shipments/${shown}`, 980, () =>
    page.getByRole('list', { name: 'Notified of Delivered' }).waitFor(),
  );
}

/** Returns the webhook that fails, and the tracking id of a shipment that was delivered. */
async function fill(
  account: Account,
  sql: (text: string, values?: unknown[]) => Promise<unknown>,
): Promise<{ failing: Hook; shown: string }> {
  const hook = async (description: string, fields: object = {}) => {
    const started = await startHook(account, { description, ordering: 'NONE', ...fields });
    closing.push(() => started.receiver.close());
    Object.assign(started.response, { status: 204, delayMs: 30 + 4 * description.length });
    return started;
  };
  const failing = await hook('Data warehouse', { ordering: 'SHIPMENT' });
  Object.assign(failing.response, {
    status: 503,
    body: '{"error":"maintenance until 15:00"}',
    headers: { 'content-type': 'application/json', 'retry-after': '300' },
  });
  const healthy = [
    await hook('Order system'),
    await hook('Customer e-mails', { interests: some }),
    await hook('Support desk', { interests: ['DELIVERY_FAILED', 'LOST', 'RETURNED', 'WEBHOOK_FAILING'] }),
  ];
  await writeHistory(sql, [...healthy, failing]);

  const simulate = async (trackingId: string, states?: string[]) => {
    await untilFound(async () => {
      const { data } = await account.call(`/v1/shipment-tracking/${trackingId}`);
      return data.state === 'CREATED';
    });
    const body = { intervalMs: 200, ...(states && { states }) };
    await account.call(`/v1/shipments/${trackingId}/simulate`, { body });
  };
  let shown = '';
  for (let n = 0; n < 14; n += 1) {
    const trackingId = await placeOrder(account, `EX-${20_481 + n * 7}`);
    if (n === 9) shown = trackingId;
    if (n % 3 === 0) await simulate(trackingId);
    if (n % 3 === 1)
      await simulate(trackingId, ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERY_FAILED']);
    await sleep(2_000); // a shop's orders come one after the other
  }
  await until(
    'the shipments have travelled',
    async () => {
      const { data } = await account.call('/v1/deliveries?state=DELIVERED&limit=250');
      const { circuit } = (await account.call(`/v1/webhooks/${failing.webhookId}`)).data.health;
      return data.deliveries.length >= 15 && circuit === 'OPEN';
    },
    60_000,
  );
  // From here on nobody is called but the one whose circuit is open: the addresses may be those of an example.
  for (const [host, { webhookId }] of [
    ['shop', healthy[0]!],
    ['mail', healthy[1]!],
    ['support', healthy[2]!],
    ['warehouse', failing],
  ] as const)
    await sql('update webhooks set target_address = $1 where webhook_id = $2', [
      `https://${host}.example.com/hooks/parcelhook`,
      webhookId,
    ]);
  return { failing, shown };
}

/** Writes the history of a day, as a shop sends it; the last webhook has failed for three hours. */
async function writeHistory(
  sql: (text: string, values?: unknown[]) => Promise<unknown>,
  hooks: Hook[],
): Promise<void> {
  for (const [n, { webhookId }] of hooks.entries())
    await sql(
      `insert into webhook_hours
       select $1, date_trunc('hour', now()) - make_interval(hours => ago), case when fails then 0 else sent end,
              case when fails then sent / 3 else 0 end, 38 + $2::int * 9, 120 + $2::int * 41, '{}', '{}'
         from (select ago, $3::bool and ago <= 3 as fails,
                      (40 * $4::numeric * (1.15 - cos((24 - ago) * pi() / 12)))::int + (ago * 7) % 5 as sent
                 from generate_series(1, 23) as ago) hours`,
      [webhookId, n, n === hooks.length - 1, [1, 0.6, 0.05, 1][n]],
    );
}
