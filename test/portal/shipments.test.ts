import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { operator, placeOrder, sampleOrder, type Account } from '../support/client.js';
import { startHook, untilFound } from '../support/deliveries.js';
import { expectSound, inBrowser, leave, withPortal, type Stage } from './browser.js';

const planted = '<script>alert(1)</script>';
/** Fails for as long as the tests take. */
const down = { status: 500, headers: { 'retry-after': '3600' } };

let service: Stage['service'];
let account: Account;
let page: Page;

withPortal(async (stage) => {
  ({ service, account, page } = stage);
  const shop = await startHook(account, { description: 'Shop', ordering: 'NONE' });
  stage.onEnd(shop.receiver.close);
});

const told = (state: string) => page.getByRole('list', { name: `Notified of ${state}` });
const row = (state: string, name: string) => told(state).getByRole('listitem').filter({ hasText: name });
const order = () => page.locator('details', { hasText: 'Order' });

inBrowser(
  'a shipment is found by either number, and shows who was told of each state as it moves',
  async () => {
    const hook = await startHook(account, { description: `Hook ${planted}` });
    const trackingId = await placeOrder(account, planted);
    const search = page.getByRole('searchbox', { name: 'Your number or the tracking id' });
    for (const number of [planted, trackingId.toLowerCase()]) {
      await page.goto('/shipments');
      await search.fill(number);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: planted }).waitFor();
    }
    await told('Created').getByText('Succeeded').nth(1).waitFor();
    await page.getByRole('button', { name: 'Picked up' }).click();
    await told('Picked up').getByText('Succeeded').nth(1).waitFor();
    await page.getByRole('button', { name: 'Run to Delivered' }).click();
    await told('Delivered').getByText('Succeeded').nth(1).waitFor();
    await page.getByText('All 2 webhooks have it').waitFor();
    await expectSound(page);
    await told('Delivered')
      .getByRole('link', { name: `Hook ${planted}` })
      .click();
    await page.getByRole('complementary').getByText('Your server responded 200').first().waitFor();
    await leave(page, hook);
  },
);

inBrowser('a number that many shipments have lists them, and one that none has says so', async () => {
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
  const none =
    'No shipment has this number. Upper and lower case differ. Check the number, or enter only its beginning.';
  await page.getByText(none).waitFor();
  await expectSound(page);
  const [{ trackingId }] = (await account.call('/v1/shipments?limit=1')).data.shipments;
  const begun = page.getByText(
    'If it is the beginning of a tracking id, enter the whole id: PH and at least 18',
  );
  await search.fill(String(trackingId).slice(0, 12).toLowerCase());
  await page.keyboard.press('Enter');
  await begun.waitFor();
  await expectSound(page);
  await search.fill(String(trackingId).toLowerCase());
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/shipments/${trackingId}`);
  await page.goto('/shipments?shipperTrackingIdPrefix=PH1');
  await begun.waitFor();
  await page.goto('/shipments?shipperTrackingId=twice');
  await page.getByText(none).waitFor();
});

inBrowser(
  'every webhook says why it was not told of a state, and what failed is sent again there',
  async () => {
    const failing = await startHook(account, { description: 'Failing', ordering: 'NONE' });
    const lost = await startHook(account, { description: 'For losses', interests: ['LOST'] });
    Object.assign(failing.response, down);
    const trackingId = await placeOrder(account);
    await failing.receiver.waitFor(1);
    const late = await startHook(account, { description: 'Late one' });
    await page.goto(`/shipments/${trackingId}`);
    await page.getByRole('link', { name: '1 of 2 webhooks is behind' }).click();
    await page.waitForURL(/#now$/);
    await row('Created', 'For losses').getByText('wants only Lost').waitFor();
    await row('Created', 'Late one').getByText('made later').waitFor();
    for (const name of ['For losses', 'Late one']) await row('Created', name).getByText('Not sent').waitFor();
    await row('Created', 'Failing').getByText('Retrying 1/10').waitFor();
    await expectSound(page);
    failing.response.status = 200;
    await row('Created', 'Failing').getByRole('button', { name: 'Send again to Failing' }).click();
    await row('Created', 'Failing').getByText('Succeeded').waitFor();
    await page.getByText('All 2 webhooks have it').waitFor();
    for (const hook of [failing, lost, late]) await leave(page, hook);
  },
);

inBrowser(
  'the order is shown as it was placed, is not read until it is opened, and says when it was erased',
  async () => {
    const sample = sampleOrder();
    const body = {
      ...sample,
      shipperTrackingId: 'FULL',
      lotId: planted,
      recipientInformation: { ...sample.recipientInformation, fullName: `Ana ${planted}` },
      package: { ...sample.package, items: [{ sku: planted }] },
    };
    const trackingId = (await account.call('/v1/shipments', { body })).data.trackingId as string;
    const reads: string[] = [];
    const path = `/v1/shipments/${trackingId}`;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === path) reads.push(request.method());
    });
    await page.goto(`/shipments/${trackingId}`);
    await told('Created').getByText('Succeeded').waitFor();
    expect(reads).toEqual([]);
    await order().locator('summary').focus();
    await page.keyboard.press('Enter');
    for (const text of [
      `Ana ${planted}`,
      '5512345678',
      'Avenida Reforma 222',
      '45010 Guadalajara',
      'Ring twice',
      'Books',
      '349.5 MXN',
      '30 × 20 × 10 CM',
      planted,
      `"sku": "${planted}"`,
    ])
      await order().getByText(text).last().waitFor();
    await expectSound(page);
    expect(reads).toEqual(['GET']);
    await operator(service, `/shipments/${trackingId}/erase`, { method: 'POST' });
    await page.reload();
    await order().locator('summary').click();
    await order().getByText("The recipient's data and the contents were erased on").waitFor();
    await order().getByText('349.5 MXN').waitFor();
    for (const gone of [/Ana/, /Reforma/, /Books/, /ERASED/, /sku/])
      expect(await order().getByText(gone).count()).toBe(0);
    await expectSound(page);
  },
);
