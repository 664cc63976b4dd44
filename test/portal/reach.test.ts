import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type Account } from '../support/client.js';
import { orderDelivered, startHook, type Hook } from '../support/deliveries.js';
import { placeOrders } from '../support/load.js';
import { expectSoundAsIs, inBrowser, withPortal } from './browser.js';
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

inBrowser(
  'the menu is worked by the keyboard: it opens at the current place, and Esc closes it',
  async () => {
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
  },
);
