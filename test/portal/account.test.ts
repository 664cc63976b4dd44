import { expect } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import {
  callAsPortal,
  fromPortal,
  logInToPortal,
  newProgram,
  openSession,
  operator,
  registerWebhook,
  type Account,
} from '../support/client.js';
import { untilFound } from '../support/deliveries.js';
import { expectSound, inBrowser, openBrowser, withPortal, type Portal } from './browser.js';
import { logIn, placesOf } from './launch.js';

let service: { url: string };
let account: Account;
let portal: Portal;
let page: Page;

const colleague = 'colleague@example.com';

withPortal(async (stage) => {
  ({ service, account, portal, page } = stage);
  const { shipperId } = account;
  await operator(service, `/shippers/${shipperId}/users`, { body: { email: colleague } });
  await registerWebhook(account, 'http://127.0.0.1:9/', { description: 'Warehouse' });
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const row = (text: string) => page.getByRole('row').filter({ hasText: text });
const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const masked = () => `ak_••••${account.accountKey.slice(-4)}`;

inBrowser('by the keyboard, the menu leads to the page of the account', async () => {
  await button('Shipper').focus();
  await page.keyboard.press('Enter');
  const link = page.getByRole('link', { name: 'Account', exact: true });
  await link.waitFor();
  await expectSound(page);
  await page.keyboard.press('Tab');
  expect(await link.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true);
  await page.keyboard.press('Enter');
  await heading('Account');
  expect(await link.isVisible()).toBe(false);
  expect(new URL(page.url()).pathname).toBe('/account');
  expect(await placesOf(page).getByText('Account').count()).toBe(0);
});

inBrowser('the page shows users, the session and the key, which is masked and copied whole', async () => {
  await page.goto('/account');
  await page.getByText(masked()).waitFor();
  await row(`${account.email} (you)`).getByText('Set', { exact: true }).waitFor();
  await row(colleague).getByText('Not set yet').waitFor();
  for (const width of [320, 390]) {
    await page.setViewportSize({ width, height: 800 });
    const { height } = (await page.getByText(masked()).boundingBox())!;
    expect(height).toBeLessThan(24); // one line
  }
  await page.getByText('if it is not used').waitFor();
  await page.getByText('At the latest').waitFor();
  await row('Webhook created').getByRole('link', { name: 'Warehouse' }).waitFor();
  await expectSound(page);
  expect(await page.content()).not.toContain(account.accountKey);
  await button('Copy the account key').click();
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
  await untilFound(async () => (await copied()) === account.accountKey);
});

inBrowser('the audit log says what was done to what and by whom, page by page', async () => {
  for (let n = 0; n < 26; n += 1) await newProgram(service, account, { scopes: ['read'], name: `Shop ${n}` });
  const { data } = await account.call('/v1/tokens?limit=1');
  await account.call(`/v1/tokens/${String(data.tokens[0].tokenId)}`, { method: 'DELETE' });
  await page.goto('/account');
  await row('Token revoked').getByText('a token that was revoked').waitFor();
  const latest = page.getByText('the token Shop 25', { exact: true });
  await page.getByRole('row').filter({ has: latest }).getByText('you', { exact: true }).waitFor();
  expect(await row('User created').count()).toBe(0);
  await button('Load older').click();
  await row('User created').filter({ hasText: colleague }).getByText('the operator').waitFor();
  await row('Account created').waitFor();
  expect(await button('Load older').count()).toBe(0);
  await expectSound(page);
});

inBrowser('a new password needs the current one, and this session goes on', async () => {
  await page.goto('/account');
  await button('Change password').click();
  await page.getByLabel('Current password').fill('not the password');
  await page.getByLabel('New password').fill('short');
  await page.keyboard.press('Enter');
  await page.getByText('Must have at least 12 characters.').waitFor();
  const password = 'correct horse battery staple';
  await page.getByLabel('New password').fill(password);
  await page.keyboard.press('Enter');
  await page.getByText('Is not your password.').waitFor();
  await expectSound(page);
  const other = await portal.context.newPage();
  let refuse!: () => void;
  const untilRefused = new Promise<void>((resolve) => (refuse = resolve));
  const refuseLate = async (route: Route) => {
    await untilRefused;
    await route.fulfill({ status: 401 });
  };
  await other.route('**/v1/webhooks*', refuseLate, { times: 1 });
  const isUnderWay = other.waitForRequest('**/v1/webhooks*');
  await other.goto('/webhooks');
  await isUnderWay;
  const isTold = other.waitForResponse((response) => response.url().endsWith('/v1/session'));
  await page.getByLabel('Current password').fill(account.password);
  await page.keyboard.press('Enter');
  await page.getByText('Your password is changed.').waitFor();
  await (await isTold).finished();
  await other.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  const isRead = other.waitForResponse(
    (response) => response.url().includes('/v1/webhooks') && response.ok(),
  );
  refuse();
  await isRead;
  expect(await other.getByText('Your session has ended').count()).toBe(0);
  await other.close();
  await row('Password set').getByText('you', { exact: true }).waitFor();
  await page.goto('/webhooks');
  await page.getByRole('link', { name: 'Warehouse' }).waitFor();
  expect((await account.call('/v1/webhooks')).httpStatus).toBe(401);
  account.password = password;
  portal.allow(/status of 40[01]/);
});

inBrowser('sessions are listed with their browsers, and another one is ended by the keyboard', async () => {
  const userAgent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:141.0) Gecko/20100101 Firefox/141.0';
  const headers = { ...fromPortal, 'user-agent': userAgent };
  const { headers: sent } = await logInToPortal(service, account, headers);
  const lost = sent.get('set-cookie')!.split(';')[0]!;
  await page.goto('/account');
  const sessions = page.getByRole('region', { name: 'Sessions' });
  const rowOf = (text: string) => sessions.getByRole('row').filter({ hasText: text });
  await rowOf('Chrome on Linux (this one)').getByText('now', { exact: true }).last().waitFor();
  const others = await sessions.getByRole('row').count();
  await expectSound(page);
  await rowOf('Firefox on Windows').getByRole('button', { name: 'End Firefox on Windows' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('The session in Firefox on Windows has ended.').waitFor();
  expect(await sessions.getByRole('row').count()).toBe(others - 1);
  expect((await callAsPortal(service, lost, '/v1/webhooks')).httpStatus).toBe(401);
  await row('Session ended').getByText('you', { exact: true }).waitFor();
  await rowOf('(this one)').waitFor();
});

inBrowser('ending the session of this browser leads to the log-in page', async () => {
  const other = await openBrowser(service);
  await other.page.goto('/account');
  await logIn(other.page, account);
  await other.page.getByRole('button', { name: 'End this session' }).click();
  await other.page.getByRole('heading', { level: 1, name: 'Log in to Parcelhook' }).waitFor();
  await other.close();
  await page.goto('/account');
  await page.getByText('(this one)').waitFor();
});

inBrowser('while the password is changed, a refused read makes no tab ask for a log-in', async () => {
  const reads = '**/v1/audit?*cursor=*';
  const change = '**/v1/password';
  let refuse!: () => void;
  const isChanged = new Promise<void>((resolve) => (refuse = resolve));
  let goOn!: () => void;
  const isSeen = new Promise<void>((resolve) => (goOn = resolve));
  const refuseLate = async (route: Route) => {
    await isChanged;
    await route.fulfill({ status: 401 });
  };
  await page.route(reads, refuseLate, { times: 1 });
  const other = await portal.context.newPage();
  await other.goto('/webhooks');
  await other.getByRole('link', { name: 'Warehouse' }).waitFor();
  await other.route('**/v1/webhooks*', refuseLate, { times: 1 });
  const isRefusedThere = other.waitForResponse((response) => response.status() === 401);
  await page.route(change, async (route) => {
    const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' };
    const response = await route.fetch({ headers });
    refuse(); // what was sent before has the earlier cookie
    await isSeen;
    await route.fulfill({ response });
  });
  const refused = page.waitForResponse((response) => response.status() === 401);
  await page.goto('/account', { waitUntil: 'networkidle' });
  await button('Load older').click();
  await button('Change password').click();
  const password = 'correct donkey battery staple';
  await page.getByLabel('Current password').fill(account.password);
  await page.getByLabel('New password').fill(password);
  await page.keyboard.press('Enter');
  await (await refused).finished();
  await (await isRefusedThere).finished();
  for (const tab of [page, other]) {
    await tab.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    expect(await tab.getByText('Your session has ended').count()).toBe(0);
  }
  const isReadThere = other.waitForResponse(
    (response) => response.url().includes('/v1/webhooks') && response.ok(),
  );
  const isRead = page.waitForResponse((response) => response.url().includes('cursor=') && response.ok());
  goOn();
  await isRead;
  await page.getByText('Your password is changed.').waitFor();
  await isReadThere;
  for (const tab of [page, other]) expect(await tab.getByText('Your session has ended').count()).toBe(0);
  await other.close();
  await page.unroute(change);
  account.password = password;
  portal.allow(/status of 401/);
});

inBrowser('for support the page shows no key, and lets nothing be changed', async () => {
  const link = await operator(service, `/shippers/${account.shipperId}/portal-link`, { method: 'POST' });
  const other = await openBrowser(service);
  await other.page.goto('/');
  await logIn(other.page, account); // which leaves a key in the browser
  await placesOf(other.page).waitFor();
  await other.page.goto(link.data.url as string);
  await other.page.getByRole('button', { name: 'Open the portal' }).click();
  await other.page.getByText('Read-only, for support.').waitFor();
  await other.page.goto('/account');
  await other.page.getByRole('row').filter({ hasText: 'Portal opened for support' }).waitFor();
  await other.page.getByRole('row').filter({ hasText: colleague }).first().waitFor();
  expect(await other.page.getByText(masked()).count()).toBe(0);
  expect(await other.page.getByRole('button', { name: /password|everywhere|^end/i }).count()).toBe(0);
  await expectSound(other.page);
  await other.close();
});

inBrowser('logging out everywhere ends this session and those in other browsers', async () => {
  const elsewhere = await openSession(service, account);
  const statusThere = async () => (await callAsPortal(service, elsewhere, '/v1/webhooks')).httpStatus;
  expect(await statusThere()).toBe(200);
  await page.goto('/account');
  await button('Log out everywhere').click();
  await page.getByText('All your sessions in browsers').waitFor();
  await expectSound(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Log out everywhere' }).click();
  await heading('Log in to Parcelhook');
  expect(await statusThere()).toBe(401);
});
