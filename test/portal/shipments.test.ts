import type { Page } from 'playwright-core';
import { expectSound, inBrowser, withPortal } from './browser.js';
import { placeOrder, type Account } from '../support/client.js';
import { startHook, untilFound } from '../support/deliveries.js';

const planted = '<script>alert(1)</script>';

let account: Account;
let page: Page;

withPortal({ SIMULATE: 'true', RETRY_SCHEDULE: '100ms' }, async (stage) => {
  ({ account, page } = stage);
  const hook = await startHook(account, { interests: ['*'], description: `Hook ${planted}` });
  stage.onEnd(hook.receiver.close);
});

inBrowser(
  'a shipment is found by either number, and shows who was told of each state as it moves',
  async () => {
    const trackingId = await placeOrder(account, planted);
    const search = page.getByRole('searchbox', { name: 'Your number or the tracking id' });
    for (const number of [planted, trackingId.toLowerCase()]) {
      await page.goto('/shipments');
      await search.fill(number);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: planted }).waitFor();
    }
    await page.getByRole('list', { name: 'Notified of Created' }).getByText('Succeeded').waitFor();
    await page.getByRole('button', { name: 'Picked up' }).click();
    await page.getByRole('list', { name: 'Notified of Picked up' }).getByText('Succeeded').waitFor();
    await page.getByRole('button', { name: 'Run to Delivered' }).click();
    const told = page.getByRole('list', { name: 'Notified of Delivered' });
    await told.getByText('Succeeded').waitFor();
    await expectSound(page);
    await told.getByRole('link', { name: `Hook ${planted}` }).click();
    await page.getByRole('complementary').getByText('Your server responded 200').first().waitFor();
  },
);

inBrowser('a number of many shipments lists them, and one of none says so', async () => {
  await placeOrder(account, 'TWICE');
  await placeOrder(account, 'TWICE');
  await page.goto('/shipments');
  const search = page.getByRole('searchbox', { name: 'Your number or the tracking id' });
  await search.fill('TWICE');
  await page.keyboard.press('Enter');
  await page.getByText('Number TWICE').waitFor();
  await untilFound(async () => (await page.locator('[data-row]').count()) === 2);
  await expectSound(page);
  await search.fill('none such');
  await page.keyboard.press('Enter');
  await page.getByText('No shipment has the number none such.').waitFor();
});
