import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { operator, placeOrder, sampleOrder, type Account } from '../support/client.js';
import { startHook, untilFound, type Hook } from '../support/deliveries.js';
import { until } from '../support/until.js';
import { expectSound, inBrowser, withPortal, type Portal } from './browser.js';

/** Any of the three would be noticed: a dialog, a request elsewhere, a violation of the policy. */
const planted = '<script>alert(1)</script><img src="https://planted.example/x" onerror="alert(2)">';

let account: Account;
let hook: Hook;
let trackingId: string;
let portal: Portal;
let page: Page;

withPortal(async (stage) => {
  const { service } = stage;
  ({ account, portal, page } = stage);
  await operator(service, `/shippers/${account.shipperId}`, { method: 'PATCH', body: { name: planted } });
  hook = await startHook(account, {
    description: planted,
    headers: { 'X-Planted': planted },
    ordering: 'NONE',
  });
  stage.onEnd(hook.receiver.close);
  await account.call(`/v1/webhooks/${hook.webhookId}`, {
    method: 'PATCH',
    body: { targetAddress: `${hook.receiver.url}/${planted}?q=${planted}` },
  });
  Object.assign(hook.response, {
    status: 500,
    body: planted,
    headers: { 'x-response': planted, 'retry-after': '3600' },
  });
  trackingId = await placePlanted();
  await untilFound(async () => {
    const { data } = await account.call(`/v1/shipment-tracking/${trackingId}`);
    return data.state === 'CREATED';
  });
  await operator(service, `/shipments/${trackingId}/events`, {
    body: { state: 'PICKED_UP', anomalies: [planted], evidences: [{ note: planted, [planted]: planted }] },
  });
  await untilFound(async () => {
    const { data } = await account.call('/v1/deliveries?limit=50');
    return (
      (data.deliveries as { lastAttempt: object | null }[]).filter((one) => one.lastAttempt).length === 2
    );
  });
});

/** Plants it in each text of the order that takes any. */
async function placePlanted(): Promise<string> {
  const order = sampleOrder();
  const response = await account.call('/v1/shipments', {
    body: {
      ...order,
      shipperTrackingId: planted,
      recipientLocation: { ...order.recipientLocation, street: planted, notes: planted, reference: planted },
      recipientInformation: { ...order.recipientInformation, fullName: planted },
      package: { ...order.package, packageType: planted, description: planted },
    },
  });
  expect(response.httpStatus).toBe(201);
  return response.data.trackingId as string;
}

/** Waits until it is shown, as text; then the page must be sound, and have no element made of it. */
async function expectShown(text: string): Promise<void> {
  await page.getByText(text).filter({ visible: true }).first().waitFor();
  await expectSound(page);
  await expectInert();
}
const expectInert = async () =>
  expect(await page.locator('body script, body img, [onerror]').count()).toBe(0);

inBrowser('what is planted in a webhook is text in the list, on its page and in its dialogs', async () => {
  await page.goto('/webhooks');
  await page.getByRole('link', { name: planted }).waitFor();
  await expectShown('alert(1)');
  await page.goto(`/webhooks/${hook.webhookId}`);
  await page.getByRole('heading', { level: 1, name: planted }).waitFor();
  await page.getByRole('table').getByText(planted).first().waitFor();
  await expectShown('alert(1)');
  for (const [name, what] of [
    ['Delete', 'Delete this webhook?'],
    ['Pause', 'Pause this webhook?'],
    ['Edit', 'Edit webhook'],
  ] as const) {
    if (name !== 'Pause') await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('heading', { name: what }).waitFor();
    await expectInert();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await page.getByRole('button', { name: 'Send test' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Send test' }).click();
  await page
    .getByRole('dialog')
    .getByText(/^Your server responded 500 in /)
    .waitFor();
  await page.getByRole('dialog').getByText(planted).first().waitFor();
  await expectInert();
});

inBrowser('what is planted in an order, an event and a response is text in the log', async () => {
  await page.goto('/deliveries');
  await page.locator('[data-row]').filter({ hasText: planted }).first().waitFor();
  await expectShown('alert(1)');
  await page.getByRole('link', { name: 'Picked up' }).click();
  const panel = page.getByRole('complementary');
  await panel
    .getByText(/^Your server responded 500 in /)
    .first()
    .waitFor();
  await panel.getByText('Headers as sent').click();
  await panel.getByRole('region', { name: 'the response' }).getByText(planted).waitFor();
  await panel.getByRole('region', { name: 'the payload' }).getByText('evidences').waitFor();
  await expectShown('alert(1)');
});

inBrowser('what is planted in a shipment is text in the list, on its page and in a search', async () => {
  await placeOrder(account, planted);
  await page.goto('/shipments');
  await page.locator('[data-row]').filter({ hasText: planted }).nth(1).waitFor();
  await expectShown('alert(1)');
  await page.goto(`/shipments?${new URLSearchParams({ shipperTrackingId: planted }).toString()}`);
  await page.locator('[data-row]').filter({ hasText: planted }).nth(1).waitFor();
  await expectInert();
  await page.goto(`/shipments/${trackingId}`);
  await page.getByRole('heading', { level: 1, name: planted }).waitFor();
  await page.getByRole('list', { name: 'Notified of Picked up' }).getByText(planted).waitFor();
  await expectShown('alert(1)');
});

inBrowser('what is planted in an address or the shipper’s name is text wherever it is shown', async () => {
  const query = new URLSearchParams({ webhookId: hook.webhookId, from: planted }).toString();
  portal.allow(/status of 40[04]/);
  await page.goto(`/recover?${query}`);
  await page.getByText('alert(1)').first().waitFor();
  await expectInert();
  await page.goto(`/deliveries?status=${encodeURIComponent(planted)}`);
  await page.getByRole('alert').waitFor();
  await expectInert();
  await page.goto(`/webhooks/${encodeURIComponent(planted)}`); // no id
  await page.getByText('There is no such page').waitFor();
  await expectInert();
  await page.getByRole('button', { name: planted }).click();
  await page.getByRole('button', { name: 'Log out' }).waitFor();
  await expectInert();
});

inBrowser('what no page may do is refused by its policy, and noticed', async () => {
  const withImage = (act: string) =>
    page.evaluate(`{ const image = document.createElement('img'); ${act} document.body.append(image); }`);
  await expect(withImage("image.setAttribute('onerror', 'alert(2)');")).rejects.toThrow('TrustedScript');
  await expect(page.evaluate('document.body.innerHTML = "<p>"')).rejects.toThrow('TrustedHTML');
  await withImage("image.src = 'https://planted.example/x';");
  await until('all three are noticed', () => portal.wrong.length >= 3);
  await page.evaluate('alert(1)');
  await until('the dialog is noticed', () =>
    portal.wrong.some((what) => what.includes('a planted script ran: 1')),
  );
  portal.wrong.length = 0;
});
