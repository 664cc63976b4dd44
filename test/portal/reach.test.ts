import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type Account } from '../support/client.js';
import { orderDelivered, startHook, type Hook } from '../support/deliveries.js';
import { placeOrders } from '../support/load.js';
import { expectSound, expectSoundAsIs, inBrowser, withPortal } from './browser.js';
import { desk, phone, placesOf } from './launch.js';

let account: Account;
let hook: Hook;
let page: Page;

withPortal(async (stage) => {
  ({ account, page } = stage);
  hook = await startHook(account, { description: 'Shop' });
  const failing = await startHook(account, { description: 'Failing one', ordering: 'NONE' });
  Object.assign(failing.response, { status: 500, headers: { 'retry-after': '3600' } });
  stage.onEnd(hook.receiver.close);
  stage.onEnd(failing.receiver.close);
  await placeOrders(account, 3);
  await orderDelivered(account, hook.webhookId);
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()');

inBrowser('on a phone a menu leads to every place, and none is wider than the window', async () => {
  await page.setViewportSize(phone);
  try {
    await page.goto('/webhooks');
    const menu = page.getByRole('button', { name: /^Menu/ });
    await menu.getByTitle('1 with a problem').waitFor();
    expect(await placesOf(page).count()).toBe(0);
    for (const place of ['Deliveries', 'Shipments', 'Tokens', 'Signature doctor', 'Recover', 'Webhooks']) {
      await menu.click();
      await placesOf(page).getByRole('link', { name: place }).click();
      await page.getByRole('heading', { level: 1, name: place }).waitFor();
      await placesOf(page).waitFor({ state: 'detached' });
      await page.waitForLoadState('networkidle');
      await expectSoundAsIs(page);
    }
  } finally {
    await page.setViewportSize(desk);
  }
});

inBrowser('the menu works by keyboard: it opens at the current place, and Esc closes it', async () => {
  await page.setViewportSize(phone);
  try {
    await page.goto('/shipments');
    const menu = page.getByRole('button', { name: /^Menu/ });
    await menu.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Menu/, expanded: true }).waitFor();
    expect(await focused()).toBe('Shipments');
    expect(await page.locator(':focus').getAttribute('aria-current')).toBe('page');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Menu/, expanded: false }).waitFor();
    expect(await focused()).toMatch(/^Menu/);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Menu/, expanded: true }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor();
    expect(await focused()).toMatch(/^Tokens/);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await menu.click();
      await expectSoundAsIs(page);
      await page.keyboard.press('Escape');
    }
  } finally {
    await page.setViewportSize(desk);
    await page.emulateMedia({ colorScheme: 'light' });
  }
});

const rowOfFocus = () =>
  page.evaluate<string | undefined>("document.activeElement.closest('[data-row]')?.dataset.row");
const rowIds = () => page.locator('[data-row]').evaluateAll((rows) => rows.map((row) => row.dataset.row));

inBrowser('j and k go through the rows, Enter opens one, / goes to the search', async () => {
  await page.goto('/deliveries');
  await page.locator('[data-row]').nth(2).waitFor();
  const ids = await rowIds();
  for (const [key, row] of [
    ['k', ids[0]],
    ['j', ids[1]],
    ['j', ids[2]],
    ['k', ids[1]],
  ] as const) {
    await page.keyboard.press(key);
    expect([key, await rowOfFocus()]).toEqual([key, row]);
  }
  expect(await page.locator(':focus-visible').getAttribute('href')).toBe(`/deliveries/${ids[1]}`);
  await page.keyboard.press('Enter');
  const panel = page.getByRole('complementary');
  await panel.getByRole('heading').first().waitFor();
  expect(new URL(page.url()).pathname).toBe(`/deliveries/${ids[1]}`);
  await expectSound(page);
  await page.keyboard.press('j'); // from the row of the open delivery
  expect(await rowOfFocus()).toBe(ids[2]);
  await page.keyboard.press('Escape'); // closes the panel from the list, too
  await panel.waitFor({ state: 'detached' });
  expect(new URL(page.url()).pathname).toBe('/deliveries');
  await page.keyboard.press('/');
  expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Number of the shipment');
  await page.keyboard.type('j/k?');
  expect(await page.getByRole('searchbox').inputValue()).toBe('j/k?');
  expect(await page.getByRole('dialog').count()).toBe(0);

  await page.goto('/shipments');
  await page.locator('[data-row]').first().waitFor();
  await page.keyboard.press('Control+j');
  await page.keyboard.press('Alt+k');
  expect(await rowOfFocus()).toBeUndefined();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Notified of Created' }).waitFor();
  await page.goto('/recover');
  await page.getByRole('combobox', { name: 'Webhook' }).waitFor();
  await page.keyboard.press('/');
  expect(await page.locator(':focus').getAttribute('name')).toBe('webhookId');
  await page.goto('/webhooks');
  await page.getByRole('row', { name: 'Shop' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  expect(await focused()).toBe('Shop');
});

inBrowser('? lists the keys, which do nothing under a dialog, and can be turned off', async () => {
  await page.goto('/webhooks');
  await page.getByRole('row', { name: 'Shop' }).waitFor();
  await page.keyboard.press('?');
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await list.getByText('Next and previous row').waitFor();
  await expectSound(page);
  await page.keyboard.press('j');
  expect(await page.locator('tr :focus').count()).toBe(0);
  const areUsed = list.getByRole('checkbox', { name: 'Use / j k ? in this browser' });
  await areUsed.uncheck();
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('row', { name: 'Shop' }).waitFor();
  await page.keyboard.press('?');
  await page.keyboard.press('j');
  expect([await list.count(), await page.locator('tr :focus').count()]).toEqual([0, 0]);
  await button('Keyboard shortcuts').click();
  await areUsed.check();
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Keyboard shortcuts');
  await page.keyboard.press('?');
  await list.waitFor();
});

const dialog = (name: string) => page.getByRole('dialog', { name, exact: true });
const question = () => dialog('Discard your changes?');
/** Each way out of a dialog that is not its Cancel. */
const waysOut: [string, () => Promise<unknown>][] = [
  ['Esc', () => page.keyboard.press('Escape')],
  ['the cross', () => button('Close').first().click()],
  ['a click beside it', () => page.mouse.click(5, 400)],
  ['Back', () => page.goBack()],
];

inBrowser('a changed form is discarded only after a question, whichever way it is left', async () => {
  await page.goto('/deliveries');
  await placesOf(page).getByRole('link', { name: 'Webhooks' }).click();
  await button('New webhook').click();
  const form = dialog('New webhook');
  await form.getByLabel('Address').fill('https://example.com/typed');
  for (const [way, leave] of waysOut) {
    await leave();
    await question().waitFor();
    expect([way, await focused()]).toEqual([way, 'Keep editing']);
    await page.keyboard.press('Escape');
    await question().waitFor({ state: 'detached' });
    expect([way, new URL(page.url()).pathname]).toEqual([way, '/webhooks']);
    expect(await form.getByLabel('Address').inputValue()).toBe('https://example.com/typed');
  }
  await page.keyboard.press('Escape');
  await question().waitFor();
  await expectSound(page);
  await button('Keep editing').click();
  await question().waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await button('Discard').click();
  await form.waitFor({ state: 'detached' });
  expect(await focused()).toBe('New webhook');

  await button('New webhook').click();
  await form.getByLabel('Only these').check();
  await page.goBack();
  await question().waitFor();
  await button('Discard').click();
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);

  await placesOf(page).getByRole('link', { name: 'Tokens' }).click();
  await button('New token').click();
  await dialog('New token').getByLabel('Name').fill('Shop');
  await page.keyboard.press('Escape');
  await question().waitFor();
  await button('Keep editing').click();
  await button('Cancel').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

inBrowser('a form that is as it was closes at once, and so does one that is only a list', async () => {
  for (const [, leave] of waysOut) {
    await page.goto('/deliveries');
    await placesOf(page).getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('link', { name: 'Shop' }).click();
    await button('More').click();
    await button('Edit').click();
    const form = dialog('Edit webhook');
    await form.getByLabel('Description').fill('Another');
    await form.getByLabel('Description').fill('Shop');
    await button('Add a header').click();
    await leave();
    await form.waitFor({ state: 'detached' });
    expect(await question().count()).toBe(0);
  }
  await page.goto(`/webhooks/${hook.webhookId}`);
  await button('Send test').click();
  await dialog('Send a test').getByLabel('State').selectOption('LOST');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

inBrowser('the menu of a webhook is within the window, on a desk and on a phone', async () => {
  for (const size of [desk, phone]) {
    await page.setViewportSize(size);
    await page.goto(`/webhooks/${hook.webhookId}`);
    await button('More').click();
    const { x, width } = (await button('Delete').boundingBox())!;
    expect({ left: x >= 0, right: x + width <= size.width }).toEqual({ left: true, right: true });
  }
  await page.setViewportSize(desk);
});
