import { expect } from '@jest/globals';
import { get } from 'node:http';
import type { Page, Request } from 'playwright-core';
import { orderDelivered, startHook, type Hook } from '../support/deliveries.js';
import { operator, registerAccount, type Account } from '../support/client.js';
import { until } from '../support/until.js';
import { expectSound, inBrowser, withPortal, type Portal } from './browser.js';
import { logIn, placesOf } from './launch.js';

let service: { url: string };
let account: Account;
let hook: Hook;
let portal: Portal;
let page: Page;

withPortal(
  async (stage) => {
    ({ service, account, portal, page } = stage);
    hook = await startHook(account, { description: 'Shop' });
    stage.onEnd(hook.receiver.close);
    await orderDelivered(account, hook.webhookId);
  },
  { settings: { LOGIN_LIMIT_ACCOUNT: '18' }, isLoggedIn: false },
);

/** Nobody is logged in any more, and the page does not know it yet: as when the cookie has expired. */
const dropCookie = () => portal.context.clearCookies();
/** The operator ends every session and token of the user. */
const signOut = async () => {
  const { httpStatus } = await operator(service, `/users/${account.userId}/sign-out`, { method: 'POST' });
  expect(httpStatus).toBe(200);
};
const logInAt = async (path: string) => {
  await dropCookie();
  await page.goto(path);
  await logIn(page, account);
  await placesOf(page).waitFor();
};

inBrowser(
  'a wrong password is refused in words, a right one opens the place that was asked for',
  async () => {
    await page.goto('/deliveries?status=SUCCEEDED');
    await page.getByText('ak_…, from your operator', { exact: true }).waitFor();
    await page.getByText('and a link if you forget your password').waitFor();
    await logIn(page, { ...account, password: 'not the password' });
    await page.getByText('Account key, e-mail or password is wrong.').waitFor();
    await expectSound(page);
    await page.getByLabel('Password').fill(account.password);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.locator('[data-row]').first().waitFor();
    expect(new URL(page.url()).search).toBe('?status=SUCCEEDED');
    portal.allow(/status of 401/);
  },
);

inBrowser('after too many attempts the page says when to try again', async () => {
  const other = await registerAccount(service, 'other@example.com');
  await dropCookie();
  await page.goto('/');
  portal.allow(/status of 4(01|29)/);
  await logIn(page, { ...other, password: 'not the password' });
  const refusal = page.getByText(/^Too many attempts\. Try again in \d+ (s|min)\.$/);
  await until(
    'a refusal',
    async () => {
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      return refusal.isVisible();
    },
    45_000,
  );
});

inBrowser(
  'after a log-out nothing is left on the page, and the session has ended on the server',
  async () => {
    await logInAt('/webhooks');
    await page.getByRole('link', { name: 'Shop' }).waitFor();
    const cookies = await portal.context.cookies();
    await page.getByRole('button', { name: 'Shipper' }).click();
    await expectSound(page);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in to Parcelhook' }).waitFor();
    expect(await page.getByText('Shop').count()).toBe(0);
    expect(await page.getByLabel('Account key').inputValue()).toBe(account.accountKey);
    await portal.context.addCookies(cookies);
    await page.reload();
    await page.getByRole('heading', { name: 'Log in to Parcelhook' }).waitFor();
  },
);

inBrowser(
  'a session that ends while a form is filled in is renewed over it, and the form goes on',
  async () => {
    await logInAt('/webhooks');
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('Address').fill(`${hook.receiver.url}/typed-before`);
    await page.getByLabel('Description').fill('Typed before');
    await signOut();
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await expectSound(page);
    expect(await page.getByLabel('Description').inputValue()).toBe('Typed before');
    await page.getByLabel('Password').fill(account.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhook created' }).waitFor();
    const { data } = await page.evaluate<{ data: { webhooks: { description: string }[] } }>(
      "fetch('/v1/webhooks').then((response) => response.json())",
    );
    expect(data.webhooks.map(({ description }) => description)).toContain('Typed before');
    portal.allow(/status of 401/);
  },
);

inBrowser('a session that ends while the log is read keeps its rows, its filters and its panel', async () => {
  await logInAt('/deliveries?status=SUCCEEDED');
  await page.locator('[data-row] a').first().click();
  await page.getByRole('complementary').getByText('Your server responded 200').first().waitFor();
  const address = page.url();
  const rows = await page.locator('[data-row]').count();
  await signOut(); // the next poll is refused
  await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
  expect(await page.locator('[data-row]').count()).toBe(rows);
  await page.getByLabel('Password').fill(account.password);
  const readAgain = page.waitForResponse(
    (response) => response.url().includes('/v1/deliveries?') && response.status() === 200,
  );
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await readAgain;
  expect([page.url(), await page.locator('[data-row]').count()]).toEqual([address, rows]);
  await page.getByRole('complementary').getByText('Your server responded 200').first().waitFor();
  portal.allow(/status of 401/);
});

inBrowser(
  'by the keyboard alone: log in, create a webhook, open a delivery and come back to it',
  async () => {
    await dropCookie();
    await page.goto('/');
    await page.getByLabel('Account key').waitFor();
    await until('a field has the focus', async () => (await page.locator('input:focus').count()) === 1);
    // The account key is remembered, so the first empty field has the focus.
    if (await page.getByLabel('E-mail').evaluate(hasFocus)) await page.keyboard.type(account.email);
    else {
      await page.keyboard.type(account.accountKey);
      await page.keyboard.press('Tab');
      await page.keyboard.type(account.email);
    }
    await page.keyboard.press('Tab');
    await page.keyboard.type(account.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await tabTo('New webhook');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await page.getByLabel('Address').evaluate(hasFocus)).toBe(true);
    await page.keyboard.type(`${hook.receiver.url}/by-keyboard`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhook created' }).waitFor();
    await tabTo('I have stored it');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'More' }).waitFor();
    await tabTo('Deliveries', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.locator('[data-row]').first().waitFor();
    await tabTo('Created');
    const address = page.url();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').getByText('Your server responded 200').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    expect(page.url()).toBe(address);
    expect(await page.locator('[data-row] a').first().evaluate(hasFocus)).toBe(true);
  },
);

const hasFocus = (element: { ownerDocument: { activeElement: unknown } }) =>
  element.ownerDocument.activeElement === element;

async function tabTo(text: string, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press(key);
    const reached = await page.evaluate<string>('document.activeElement.textContent.trim()');
    if (reached === text) return;
  }
  throw new Error(`the keyboard does not reach ${text}`);
}

inBrowser('the signature doctor names the cause, and nothing that was pasted leaves the page', async () => {
  await logInAt('/doctor');
  const notification = hook.receiver.received[0]!;
  const { secret } = hook;
  const pasted = (body: string, secretGiven: string) => async () => {
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    const headers = names.map((name) => `${name}: ${String(notification.headers[name])}`).join('\n');
    await page.getByRole('textbox', { name: 'Headers' }).fill(headers);
    await page.getByRole('textbox', { name: 'Raw body' }).fill(body);
    await page.getByRole('textbox', { name: 'Secret', exact: true }).fill(secretGiven);
    await page.getByRole('button', { name: 'Diagnose' }).click();
  };
  const requests: Request[] = [];
  page.on('request', (request) => requests.push(request));
  const rewritten = JSON.stringify(JSON.parse(notification.body), null, 2);
  const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  await pasted(notification.body, secret)();
  await page.getByText('It verifies.').waitFor();
  await pasted(notification.body, other)();
  await page.getByText("Most likely another webhook's secret, or an old one").waitFor();
  const lines = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => `'${name}': '${String(notification.headers[name])}'`,
  );
  await page.getByRole('textbox', { name: 'Headers' }).fill(`{${lines.join(', ')}}`);
  await page.getByRole('textbox', { name: 'Secret', exact: true }).fill(secret);
  await page.getByRole('button', { name: 'Diagnose' }).click();
  await page.getByText('It verifies.').waitFor();
  await pasted(rewritten, secret)();
  await page.getByText('First difference').waitFor();
  await expectSound(page);
  const hex = Buffer.from(notification.body)
    .toString('hex')
    .match(/.{1,32}/g)!;
  const dump = hex.map((row, at) => `${(16 * at).toString(16).padStart(8, '0')}: ${row}`);
  await pasted(dump.join('\n'), other)();
  await page.getByText("Most likely another webhook's secret, or an old one").waitFor();
  expect(await page.locator('.verdict').count()).toBe(1);
  await pasted(dump.slice(0, 3).join('\n'), secret)();
  await page.getByText('part of the dump is missing').waitFor();
  expect(await page.locator('.verdict').allTextContents()).toEqual(['The body could not be read']);
  expect(await page.locator('.verdict.bad').count()).toBe(0);
  await expectSound(page);
  for (const request of requests) {
    const sent = `${request.url()} ${JSON.stringify(request.headers())} ${request.postData() ?? ''}`;
    for (const value of [secret, other, String(notification.headers['webhook-signature']), 'tracking_id'])
      expect(sent).not.toContain(value);
  }
  expect(requests.filter((request) => request.method() !== 'GET')).toEqual([]);
  const stored = await page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })');
  expect(stored + page.url()).not.toContain('whsec_');
});

inBrowser('the inbox says that it exists in development only', async () => {
  await logInAt('/inbox');
  await page.getByRole('heading', { level: 1, name: 'The inbox exists in development only' }).waitFor();
  await expectSound(page);
});

/** Reads them without a client that decompresses. */
const bytesOf = (url: string, encoding: string) =>
  new Promise<number>((resolve, reject) => {
    const headers = { accept: 'text/html', 'accept-encoding': encoding };
    get(url, { headers }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve(bytes));
    }).on('error', reject);
  });

inBrowser(
  'the first load takes at most 36 kB with Brotli and 39 kB with gzip, logged in or out',
  async () => {
    const loaded = new Set<string>();
    const measured = await portal.context.newPage();
    measured.on('request', (request) => void loaded.add(request.url()));
    const load = async (heading: string) => {
      loaded.clear();
      await measured.goto('/', { waitUntil: 'networkidle' });
      await measured.getByRole('heading', { level: 1, name: heading }).waitFor();
      const files = [...loaded].filter((url) => !url.includes('/v1/'));
      expect(files.length).toBeGreaterThan(3);
      for (const [encoding, maxBytes] of [
        ['br', 36_000],
        ['gzip', 39_000],
      ] as const) {
        const sizes = await Promise.all(files.map((url) => bytesOf(url, encoding)));
        const bytes = sizes.reduce((sum, size) => sum + size, 0);
        expect({ encoding, bytes, holds: bytes > 10_000 && bytes <= maxBytes }).toMatchObject({
          holds: true,
        });
      }
    };
    await logInAt('/webhooks');
    await load('Webhooks');
    await dropCookie();
    await load('Log in to Parcelhook');
    await measured.close();
  },
);
