import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { registerWebhook, type Account } from '../support/client.js';
import { untilFound } from '../support/deliveries.js';
import { expectSound, inBrowser, withPortal, type Portal } from './browser.js';

let service: { url: string };
let account: Account;
let portal: Portal;
let page: Page;

withPortal(async (stage) => {
  ({ service, account, portal, page } = stage);
  await registerWebhook(account, 'http://127.0.0.1:9/', { description: 'Warehouse' });
});

const dialog = () => page.getByRole('dialog');
const button = (name: string) => page.getByRole('button', { name, exact: true });
const row = (name: string) => page.getByRole('row').filter({ hasText: name });
const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
const statusOf = async (token: string, path = '/v1/webhooks') =>
  (await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;

async function copyToken(): Promise<string> {
  await page.getByRole('heading', { name: 'Token created' }).waitFor();
  await button('Copy the token').click();
  return untilFound(async () => (await copied()).startsWith('phk_') && copied());
}

inBrowser('a token is made, shown once, used and revoked', async () => {
  await page.goto('/tokens');
  await page.getByRole('heading', { name: 'There is no token yet' }).waitFor();
  await expectSound(page);
  await button('New token').click();
  await page.getByLabel('Name').fill('Shop');
  await button('Create token').click();
  await dialog().getByText('Choose at least one.').waitFor();
  await page.getByLabel('Expires').fill('2001-01-01T00:00:00');
  await page.getByLabel('Read everything there is').check();
  await button('Create token').click();
  await dialog().getByText('Must be in the future.').waitFor();
  await expectSound(page);
  await page.getByLabel('Expires').fill('2099-01-01T00:00:00');
  await button('Create token').click();
  const token = await copyToken();
  await expectSound(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape'); // does not close what is shown once
  await page.mouse.click(2, 2);
  await button('I have stored it').click();
  await row('Shop').getByText('Read everything').waitFor();
  expect(await row('Shop').getByText('never').count()).toBe(1);
  expect(await statusOf(token)).toBe(200);
  await page.reload();
  await row('Shop').locator('time[title="By UTC"]').waitFor();
  await expectSound(page);
  expect(await page.getByText('phk_').count()).toBe(0);
  await button('Revoke Shop').click();
  await expectSound(page);
  await button('Revoke token').click();
  await page.getByText('Shop was revoked.').waitFor();
  await page.getByRole('heading', { name: 'There is no token yet' }).waitFor();
  await untilFound(async () => (await statusOf(token)) === 401);
  portal.allow(/status of 400/);
});

inBrowser('by the keyboard alone: a token for one webhook, which places no orders', async () => {
  await page.goto('/tokens');
  await button('New token').focus();
  await page.keyboard.press('Enter');
  await dialog().locator('input:focus').waitFor(); // keys pressed before are lost
  await page.keyboard.type('Watcher');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await page.getByText('A token for one webhook places no orders.').waitFor();
  expect(await page.getByRole('checkbox').count()).toBe(2);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await expectSound(page);
  await page.keyboard.press('Enter');
  const token = await copyToken();
  await button('I have stored it').focus();
  await page.keyboard.press('Enter');
  await row('Watcher').getByText('Only Warehouse').waitFor();
  expect(await page.locator(':focus').innerText()).toBe('New token');
  const { data } = await account.call('/v1/tokens');
  const [{ webhookId }] = data.tokens as [{ webhookId: string }];
  expect(data.tokens).toMatchObject([{ name: 'Watcher', scopes: ['webhooks'], expiresAt: null }]);
  expect(await statusOf(token, `/v1/webhooks/${webhookId}`)).toBe(200);
  expect(await statusOf(token, '/v1/shipments')).toBe(403);
});
