import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { orderDelivered, startHook, untilFound, type Hook } from '../support/deliveries.js';
import type { Account } from '../support/client.js';
import { placeOrders } from '../support/load.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { placesOf } from './launch.js';
import { expectSound, inBrowser, leave, withPortal, type Portal } from './browser.js';

/** Fails for as long as the tests take. */
const down = { status: 500, headers: { 'retry-after': '3600' } };

let account: Account;
let shop: Hook;
let receiver: Receiver;
let portal: Portal;
let page: Page;

withPortal(async (stage) => {
  ({ account, portal, page } = stage);
  shop = await startHook(account, { description: 'Shop', ordering: 'NONE' });
  stage.onEnd(shop.receiver.close);
  receiver = await startReceiver();
  stage.onEnd(receiver.close);
});

const dialog = () => page.getByRole('dialog');
const button = (name: string) => page.getByRole('button', { name, exact: true });
/** Opens the menu of the webhook's page first. */
const choose = async (name: string) => {
  await button('More').click();
  await button(name).click();
};
const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
const openWebhook = async (hook: Hook) => {
  await page.goto(`/webhooks/${hook.webhookId}`);
  await button('Send test').waitFor();
};
const read = async (webhookId: string) => {
  const { httpStatus, data } = await account.call(`/v1/webhooks/${webhookId}`);
  return { httpStatus, ...data } as Record<string, unknown>;
};

inBrowser('a webhook is created with what was filled in, and its secret is shown once', async () => {
  await page.goto('/webhooks');
  await button('New webhook').click();
  await page.getByLabel('Address').fill('not an address');
  await button('Create webhook').click();
  await page.getByLabel('Address').fill('ftp://example.com/hook');
  await button('Create webhook').click();
  await dialog().locator('.field-error').waitFor();
  await expectSound(page);
  await page.getByLabel('Address').fill(shop.receiver.url);
  await dialog().getByText('It is also the address of your webhook Shop, and gets the').waitFor();
  await page.getByLabel('Address').fill(receiver.url);
  await dialog().getByText('Notifications are sent there by POST.').waitFor();
  await page.getByLabel('Description').fill('Warehouse');
  await page.getByLabel('Name', { exact: true }).fill('orders/production');
  await page.getByLabel('Only these').check();
  await button('Add a header').click();
  await page.getByLabel('Name of header 1').fill('webhook-id');
  await button('Create webhook').click();
  await dialog().getByText('Choose at least one state.').waitFor();
  await dialog()
    .getByText(/^Must be 1 to 64 printable characters without \//)
    .waitFor();
  await page.getByLabel('Name', { exact: true }).fill(' orders-production ');
  await dialog().getByText('webhook-id is set by the service and cannot be given.').waitFor();
  await button('Remove header 1').click();
  await page.getByLabel('Created', { exact: true }).check();
  await page.getByLabel('Delivered', { exact: true }).check();
  await page.getByLabel('Order').selectOption('NONE');
  await button('Add a header').click();
  await page.getByLabel('Name of header 1').fill('X-Team');
  await page.getByLabel('Value of header 1').fill('blue');
  await button('Create webhook').click();
  await page.getByRole('heading', { name: 'Webhook created' }).waitFor();
  await expectSound(page);
  await button('Copy the secret').click();
  const secret = await untilFound(async () => (await copied()).startsWith('whsec_') && copied());
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape'); // does not close what is shown once
  await button('I have stored it').click();
  await page.getByRole('heading', { level: 1, name: 'orders-production' }).waitFor();
  const webhookId = new URL(page.url()).pathname.split('/').at(-1)!;
  expect(await read(webhookId)).toMatchObject({
    targetAddress: receiver.url,
    description: 'Warehouse',
    name: 'orders-production',
    interests: ['CREATED', 'DELIVERED'],
    ordering: 'NONE',
    headers: { 'X-Team': '••••' },
  });
  await page.reload();
  await button('Send test').waitFor();
  expect(await page.getByText('whsec_').count()).toBe(0);
  await button('Send test').click();
  await dialog().getByRole('button', { name: 'Send test' }).click();
  const [{ body, headers }] = (await receiver.waitFor(1)) as [Receiver['received'][number]];
  expect(headers['x-team']).toBe('blue');
  new Webhook(secret).verify(body, headers as Record<string, string>);
  portal.allow(/status of 400/);
});

inBrowser('a test shows the response at once, and gives the focus back', async () => {
  const hook = await startHook(account, { description: 'Tested' });
  Object.assign(hook.response, { status: 503, body: 'try later' });
  await openWebhook(hook);
  await button('Send test').focus();
  await page.keyboard.press('Enter');
  await dialog().getByLabel('State').selectOption('DELIVERED');
  await dialog().getByRole('button', { name: 'Send test' }).click();
  await dialog()
    .getByText(/^Your server responded 503 in \d+ m?s/)
    .waitFor();
  await dialog().getByText('try later').waitFor();
  await expectSound(page);
  expect(hook.receiver.received[0]!.notification).toMatchObject({ state: 'DELIVERED' });
  hook.response.status = 204;
  await dialog().getByRole('button', { name: 'Send again' }).click();
  await dialog()
    .getByText(/^Your server responded 204 in /)
    .waitFor();
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  expect(await page.locator(':focus').innerText()).toBe('Send test');
  await leave(page, hook);
});

inBrowser('an edit changes what was changed, and keeps the values of headers that it never saw', async () => {
  const hook = await startHook(account, { description: 'Before', headers: { 'X-Key': 'hidden' } });
  await openWebhook(hook);
  await choose('Edit');
  await page.getByLabel('Description').fill('After');
  await page.getByLabel('Only these').check();
  await page.getByLabel('Delivered', { exact: true }).check();
  await page.getByLabel('Created', { exact: true }).check();
  await expectSound(page);
  await button('Save').click();
  await page.getByRole('heading', { level: 1, name: 'After' }).waitFor();
  expect(await read(hook.webhookId)).toMatchObject({
    description: 'After',
    interests: expect.arrayContaining(['CREATED', 'DELIVERED']),
  });
  await orderDelivered(account, hook.webhookId);
  expect(hook.receiver.received[0]!.headers['x-key']).toBe('hidden');
  await leave(page, hook);
});

inBrowser('a pause asks first and holds; a resume sends what was held', async () => {
  const hook = await startHook(account, { description: 'Paused one' });
  await openWebhook(hook);
  await button('Pause').click();
  await expectSound(page);
  await dialog().getByRole('button', { name: 'Pause webhook' }).click();
  await button('Resume').waitFor();
  expect(await read(hook.webhookId)).toMatchObject({ status: 'PAUSED' });
  await orderDelivered(account, hook.webhookId);
  await page.getByText('What it misses is held until you resume it. 1 delivery waits.').waitFor();
  await page.getByRole('link', { name: '1 delivery', exact: true }).waitFor();
  await page.getByRole('table').getByText('Held').waitFor();
  expect(hook.receiver.received).toEqual([]);
  await button('Resume').click();
  await hook.receiver.waitFor(1);
  await page.getByRole('table').getByText('Succeeded').waitFor();
  await leave(page, hook);
});

inBrowser(
  'a rotated secret is shown once, and both secrets sign until the earlier one is ended',
  async () => {
    const hook = await startHook(account, { description: 'Rotated' });
    await openWebhook(hook);
    await page.getByText('Never rotated: the one that the webhook was created with signs.').waitFor();
    await choose('Rotate secret');
    await expectSound(page);
    await dialog().getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('heading', { name: 'New secret' }).waitFor();
    await button('Copy the secret').click();
    const secret = await untilFound(async () => {
      const text = await copied();
      return text.startsWith('whsec_') && text !== hook.secret && text;
    });
    await button('I have stored it').click();
    await dialog().waitFor({ state: 'detached' });
    expect(await page.getByText('whsec_').count()).toBe(0);
    await orderDelivered(account, hook.webhookId);
    const [{ body, headers }] = (await hook.receiver.waitFor(1)) as [Receiver['received'][number]];
    for (const one of [secret, hook.secret]) new Webhook(one).verify(body, headers as Record<string, string>);
    const card = page.getByRole('region', { name: 'Secret', exact: true });
    await card.getByText(/^Rotated (now|\d+ s ago)\.$/).waitFor();
    await card.getByText('1 earlier secret signs too, until:').waitFor();
    const until = await card.locator('time').last().getAttribute('datetime');
    expect(Math.abs(Date.parse(until!) - Date.now() - 86_400_000)).toBeLessThan(60_000);
    await expectSound(page);
    await card.getByRole('button', { name: 'End now…' }).click();
    await dialog().getByText('verifies with an earlier one will refuse').waitFor();
    await expectSound(page);
    expect(await page.locator(':focus').innerText()).toBe('Cancel');
    await button('End earlier secrets').click();
    await card.getByText('No earlier secret signs any more.').waitFor();
    expect(await card.getByRole('button', { name: 'End now…' }).count()).toBe(0);
    await orderDelivered(account, hook.webhookId);
    const { body: later, headers: signed } = hook.receiver.received[1]!;
    new Webhook(secret).verify(later, signed as Record<string, string>);
    expect(() => new Webhook(hook.secret).verify(later, signed as Record<string, string>)).toThrow();
    await leave(page, hook);
  },
);

inBrowser('a webhook is deleted only after it was confirmed', async () => {
  const hook = await startHook(account, { description: 'Deleted one' });
  await openWebhook(hook);
  await choose('Delete');
  await expectSound(page);
  expect(await page.locator(':focus').innerText()).toBe('Cancel');
  await page.keyboard.press('Enter');
  await dialog().waitFor({ state: 'detached' });
  expect((await read(hook.webhookId)).httpStatus).toBe(200);
  portal.allow(/status of 404/); // the page may have asked for it once more
  await choose('Delete');
  await button('Delete webhook').click();
  await page.getByText('The webhook was deleted.').waitFor();
  expect(new URL(page.url()).pathname).toBe('/webhooks');
  expect((await read(hook.webhookId)).httpStatus).toBe(404);
  await page.getByRole('link', { name: 'Shop' }).waitFor();
  expect(await page.getByRole('link', { name: 'Deleted one' }).count()).toBe(0);
  await hook.receiver.close();
});

inBrowser('the list tells at a glance which webhook is well and which is not called', async () => {
  const dead = await startHook(account, { description: 'Dead', ordering: 'NONE' });
  const lines = `<b>No room</b>\n\n\tat line 7 ${'x'.repeat(300)}`;
  Object.assign(dead.response, down, { body: lines });
  await placeOrders(account, 14);
  await page.goto('/webhooks');
  const row = (name: string) => page.getByRole('row', { name });
  await row('Dead').getByText('Circuit open').waitFor();
  await row('Dead')
    .getByText(/^(Next probe|A probe is under way)/)
    .waitFor();
  await row('Dead').getByText('0 %').waitFor();
  await page.getByText(/^1 of \d+ webhooks needs you\.$/).waitFor();
  await placesOf(page)
    .getByTitle(/^\d+ with a problem$/)
    .waitFor();
  expect(await page.getByRole('rowheader').first().innerText()).toContain('Dead');
  await row('Shop').getByText('Active').waitFor();
  await row('Shop').getByText('100 %').waitFor();
  await row('Shop')
    .getByRole('link', { name: /^\d+ attempts in the last 24 hours, 0 failed$/ })
    .waitFor();
  await expectSound(page);
  await page.getByRole('link', { name: /^1 of \d+ webhooks$/ }).click();
  await page.getByRole('heading', { name: /^Circuit open, without a success since / }).waitFor();
  await page.getByText(/^The last error, .* ago: Created\. Your server responded 500/).waitFor();
  await page.getByText(`<b>No room</b> at line 7 ${'x'.repeat(175)}…`, { exact: true }).waitFor();
  await page.getByRole('link', { name: '500', exact: true }).waitFor();
  await page.getByText(/^Half of the attempts took at most \d+ ms, and 95 % at most \d+ ms/).waitFor();
  await expectSound(page);
  const bar = page.getByRole('link', {
    name: /: \d+ attempts, \d+ failed\. Leads to the deliveries attempted then\.$/,
  });
  const figure = (what: RegExp) => page.getByRole('link', { name: what }).click();
  await figure(/^\d+ failed attempts\. Leads to their deliveries\.$/);
  await page.waitForURL(/\/deliveries\?webhookId=.*&attemptedFrom=.*&attemptedTo=.*&attemptFailed=true$/);
  await page.getByText('With a failed attempt').waitFor();
  const { data } = await account.call(`/v1/webhooks/${dead.webhookId}/stats`);
  const failed = (data.hours as { failed: number }[]).reduce((sum, hour) => sum + hour.failed, 0);
  const rows = page.locator('[data-row]');
  await rows.first().waitFor();
  const attempts = await rows.locator('.delivery-attempts').allInnerTexts();
  expect(attempts.reduce((sum, text) => sum + Number(text), 0)).toBe(failed);
  await expectSound(page);
  await page.goBack();
  await figure(/^\d+ attempts\. Leads to their deliveries\.$/);
  await page.waitForURL(/\/deliveries\?webhookId=.*&attemptedFrom=.*&attemptedTo=[^&]*$/);
  await rows.first().waitFor();
  await page.goBack();
  await bar.last().hover();
  await page.getByText(/^\d\d:00 to \d\d:00: \d+ attempts, \d+ failed\./).waitFor();
  await bar.last().click();
  await page.waitForURL(/\/deliveries\?webhookId=.*&attemptedFrom=.*&attemptedTo=/);
  await page.getByRole('row').getByText('Created').first().waitFor();
  await page.goto('/webhooks?status=PROBLEM');
  await row('Dead').waitFor();
  expect(await row('Shop').count()).toBe(0);
  await leave(page, dead);
});

inBrowser('what failed before a webhook was well again still waits, and leads to Recover', async () => {
  const hook = await startHook(account, { description: 'Well again', ordering: 'NONE' });
  await openWebhook(hook);
  await page.getByText(/^No attempts\. Send a test/).waitFor();
  Object.assign(hook.response, down);
  await placeOrders(account, 2);
  await page.getByText(/^Deliveries that failed before wait for their next attempt/).waitFor();
  await expectSound(page);
  Object.assign(hook.response, { status: 200 });
  await account.call(`/v1/webhooks/${hook.webhookId}/test`, { method: 'POST' });
  await page.locator('main:has(.primary:text("Recover…"))').getByText('2 deliveries wait. Rec').waitFor();
  expect(await page.getByText(/^No attempts/).count()).toBe(0);
  await expectSound(page);
  await page.getByRole('main').getByRole('link', { name: 'Recover', exact: true }).click();
  await page.waitForURL(`**/recover?webhookId=${hook.webhookId}`);
  await page.getByRole('button', { name: 'Send it now' }).click();
  await hook.receiver.waitFor(5);
  await page.goto(`/webhooks/${hook.webhookId}`);
  await page.getByRole('table').getByText('Succeeded').nth(1).waitFor();
  expect(await page.getByText(/ waits?\. Recover sends/).count()).toBe(0);
  await leave(page, hook);
});

inBrowser('a delivery that waits for the rate of its webhook says the rate', async () => {
  const hook = await startHook(account, { description: 'Slow one', ordering: 'NONE', maxPerSecond: 1 });
  await placeOrders(account, 30);
  await page.goto(`/deliveries?webhookId=${hook.webhookId}&status=HELD`);
  await page.getByRole('row').getByText('at most 1 a second').first().click();
  await page
    .getByRole('complementary')
    .getByText('It is waiting because the webhook is called at most 1 time a second.')
    .waitFor();
  await leave(page, hook);
});

inBrowser(
  'among many webhooks, those that are not well can be listed alone, and lead to what waits',
  async () => {
    const failing = await startHook(account, { description: 'Failing one', ordering: 'NONE' });
    Object.assign(failing.response, down);
    const others = await Promise.all(
      Array.from({ length: 9 }, (_, at) =>
        startHook(account, { description: `Well ${at}`, interests: ['LOST'] }),
      ),
    );
    await placeOrders(account, 2);
    await page.goto('/webhooks');
    await page.getByRole('row', { name: 'Well 3' }).waitFor();
    await page.getByRole('row', { name: 'Failing one' }).getByText('Failing', { exact: true }).waitFor();
    const show = page.getByRole('group', { name: 'Show' });
    await show.getByRole('button', { name: 'Failing' }).click();
    await page.getByRole('row', { name: 'Well 3' }).waitFor({ state: 'detached' });
    await expectSound(page);
    await page
      .getByRole('row', { name: 'Failing one' })
      .getByRole('link', { name: '2', exact: true })
      .click();
    await page.waitForURL(/\/deliveries\?webhookId=/);
    await page.waitForURL(/status=UNFINISHED/);
    await page.getByRole('row').getByText('Retrying 1/10').nth(1).waitFor();
    await page.goBack();
    await show.getByRole('button', { name: 'Paused' }).click();
    await page.getByText('None of your webhooks is in this list.').waitFor();
    await show.getByRole('button', { name: 'All' }).click();
    await page.getByRole('row', { name: 'Well 3' }).waitFor();
    await leave(page, failing);
    for (const other of others) await other.close();
  },
);

inBrowser('a webhook that is gone leads back to the others', async () => {
  await page.goto('/webhooks/0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b');
  await page.getByText('It may have been deleted.').waitFor();
  await expectSound(page);
  await page.getByRole('link', { name: 'Back to the webhooks' }).click();
  await page.getByRole('link', { name: 'Shop' }).waitFor();
  portal.allow(/status of 404/);
});

inBrowser('a webhook that responded 410 says so, and that it is to be corrected and resumed', async () => {
  const hook = await startHook(account, { description: 'Gone one', ordering: 'NONE' });
  hook.response.status = 410;
  await placeOrders(account, 1);
  await openWebhook(hook);
  await page.getByText('It responded 410 Gone, so nothing is sent.').waitFor();
  await page.getByText('then resume. 1 delivery waits.').waitFor();
  await page.locator('.button.primary', { hasText: 'Resume' }).waitFor();
  await leave(page, hook);
});

inBrowser('a webhook without a name shows its address once, and says if only tests reached it', async () => {
  const hook = await startHook(account);
  const address = hook.receiver.url.replace('http://', '').replace(/\/$/, '');
  await openWebhook(hook);
  await page.getByRole('heading', { level: 1, name: address }).waitFor();
  expect(await page.getByText(hook.receiver.url).count()).toBe(1); // in its settings
  await page.goto('/webhooks');
  const row = page.getByRole('row', { name: address });
  await row.getByText('none', { exact: true }).waitFor();
  expect(await row.getByText(address).count()).toBe(1);
  await row.getByRole('button', { name: /^Send test to/ }).click();
  await dialog().getByRole('button', { name: 'Send test' }).click();
  await dialog()
    .getByText(/^Your server responded 200 in /)
    .waitFor();
  await page.keyboard.press('Escape');
  await row.getByText('none but tests').waitFor();
  await leave(page, hook);
});
