import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { operator, placeOrder, type Account } from '../support/client.js';
import { deliveriesOf, startHook, untilFound, type Hook } from '../support/deliveries.js';
import { placeOrders } from '../support/load.js';
import { until } from '../support/until.js';
import { expectSound, inBrowser, openBrowser, withPortal, type Portal, type Stage } from './browser.js';

/** Each makes a delivery for each of the two webhooks. */
const numbers = ['LOG-1', 'LOG-2', 'LOG-3'];

let account: Account;
let good: Hook;
let bad: Hook;
let page: Page;
let portal: Portal;
let service: Stage['service'];

withPortal(async (stage) => {
  ({ account, page, portal, service } = stage);
  good = await startHook(account, { interests: ['*'], description: 'Good', ordering: 'NONE' });
  bad = await startHook(account, {
    interests: ['*'],
    description: 'Bad',
    ordering: 'NONE',
    headers: { 'X-Key': 'a secret' },
  });
  stage.onEnd(good.receiver.close);
  stage.onEnd(bad.receiver.close);
  Object.assign(bad.response, { status: 503, headers: { 'retry-after': '1800' } });
  for (const number of numbers) await placeOrder(account, number);
  await untilFound(async () => {
    const found = [good, bad].map(({ webhookId }) => deliveriesOf(account, webhookId));
    const all = (await Promise.all(found)).flat();
    return all.filter(({ lastAttempt }) => lastAttempt).length === 2 * numbers.length;
  });
});

const rows = () => page.locator('[data-row]');
/** As if it had been sent again this often today. */
const limitReached = (deliveryId: string) =>
  service.sql(
    `insert into attempts (shipper_id, delivery_id, number, trigger, started_at)
     select $1, $2, -n, 'MANUAL', now() from generate_series(1, 100) n`,
    [account.shipperId, deliveryId],
  );
const panel = () => page.getByRole('complementary');
const openLog = async (query = '') => {
  await page.goto(`/deliveries${query}`);
  await rows().first().waitFor();
};

inBrowser('a response or an error is chosen by keyboard, is in the address, and is shown by it', async () => {
  await openLog();
  const choice = page.getByRole('combobox', { name: 'Response' });
  await choice.focus();
  await page.keyboard.type('503');
  await until('those that got a 503', async () => (await rows().count()) === numbers.length);
  expect(new URL(page.url()).search).toBe('?statusCode=503');
  await page.reload();
  await rows().first().waitFor();
  expect(await choice.inputValue()).toBe('503');
  expect(await rows().count()).toBe(numbers.length);
  await expectSound(page);
  await choice.selectOption({ label: 'No response' });
  await page.getByRole('heading', { name: 'Nothing matches these filters' }).waitFor();
  expect(new URL(page.url()).search).toBe('?errorCode=TIMEOUT');
  await page.goto('/deliveries?statusCode=299');
  await page.getByRole('heading', { name: 'Nothing matches these filters' }).waitFor();
  expect(await choice.inputValue()).toBe('299');
  await page.getByRole('button', { name: 'Clear all' }).click();
  await until('all of them', async () => (await rows().count()) === 2 * numbers.length);
  expect(await choice.inputValue()).toBe('');
});

inBrowser(
  'the webhook of each delivery stays beside the open panel, however wide the window is',
  async () => {
    await openLog(`?webhookId=${bad.webhookId}`);
    await rows().first().getByRole('link').click();
    await panel().getByText('1 attempt').waitFor();
    try {
      for (const width of [1_030, 1_200, 1_440, 1_920]) {
        await page.setViewportSize({ width, height: 900 });
        const cells = [page.getByRole('columnheader', { name: 'Webhook' }), rows().first().getByText('Bad')];
        for (const cell of cells) {
          const box = (await cell.boundingBox())!;
          expect(box.width).toBeGreaterThanOrEqual(80);
          expect(box.x + box.width).toBeLessThanOrEqual((await panel().boundingBox())!.x);
        }
      }
    } finally {
      await page.setViewportSize({ width: 1_440, height: 900 });
    }
  },
);

inBrowser('the panel leads from a delivery to the next, over the rows as listed, to their ends', async () => {
  await openLog(`?webhookId=${bad.webhookId}`);
  const [newest, ...numbersDown] = [...numbers].reverse();
  await page.setViewportSize({ width: 1_440, height: 300 });
  await rows().first().getByRole('link').click();
  const shipment = (number: string) => panel().getByRole('link', { name: number, exact: true }).waitFor();
  await shipment(newest!);
  const [previous, next] = ['Previous delivery', 'Next delivery'].map((name) =>
    panel().getByRole('button', { name }),
  ) as [Locator, Locator];
  expect([await previous.isDisabled(), await next.isDisabled()]).toEqual([true, false]);
  await next.focus();
  for (const number of numbersDown) {
    await page.keyboard.press('Enter');
    await shipment(number);
    await page.getByText(`Created, ${number}`).waitFor({ state: 'attached' }); // for screen readers
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Next delivery');
    expect(new URL(page.url()).searchParams.get('webhookId')).toBe(bad.webhookId);
    const box = (await page.locator('tr.selected').boundingBox())!;
    expect(box.y >= 50 && box.y + box.height <= 300).toBe(true);
  }
  expect([await previous.isDisabled(), await next.isDisabled()]).toEqual([false, true]);
  await page.keyboard.press('Enter');
  await shipment(numbersDown.at(-1)!);
  await expectSound(page);
  await page.keyboard.press('Escape');
  await panel().waitFor({ state: 'detached' });
  expect(await page.locator('tr:has(:focus)').innerText()).toContain(numbersDown.at(-1));
  await rows().nth(1).getByRole('link').click();
  await previous.click();
  await shipment(newest!);
  await page.goBack();
  await panel().waitFor({ state: 'detached' });
});

inBrowser('a failed attempt is copied as a curl command that sends the same again', async () => {
  await openLog(`?webhookId=${bad.webhookId}`);
  await rows().first().getByRole('link').click();
  await panel().getByText('As a curl command').click();
  await panel().getByText('Fill in the values that are shown as ••••.').waitFor();
  await expectSound(page);
  await panel().getByRole('button', { name: 'Copy as curl' }).click();
  const command = await page.evaluate<string>('navigator.clipboard.readText()');
  const before = bad.receiver.received.length;
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  expect(stdout).toMatch(/^HTTP\/1\.1 503 /);
  const [again] = bad.receiver.received.slice(before);
  const first = bad.receiver.received.find(
    ({ headers }) => headers['webhook-signature'] === again!.headers['webhook-signature'],
  )!;
  expect(first).not.toBe(again);
  expect(again!.body).toBe(first.body);
  expect(again!.path).toBe(first.path);
  const masked = Buffer.from('••••').toString('latin1');
  expect(again!.headers).toEqual({
    ...first.headers,
    'x-key': masked,
    connection: again!.headers.connection,
  });
});

inBrowser('selected deliveries are sent again, at most 50, and refused ones are named', async () => {
  await placeOrders(account, 30);
  await until('all are in the log', async () => (await deliveriesOf(account, good.webhookId)).length >= 33);
  await openLog();
  await page.getByRole('button', { name: 'Load older' }).click();
  await until('two pages', async () => (await rows().count()) === 66);
  const all = page.getByRole('checkbox', { name: 'Select all shown' });
  await all.check();
  await page.getByRole('button', { name: 'Send 50 again…' }).waitFor();
  const boxes = rows().getByRole('checkbox');
  expect([await boxes.nth(49).isChecked(), await boxes.nth(50).isDisabled()]).toEqual([true, true]);
  await all.uncheck();
  await page.getByRole('button', { name: /^Send \d+ again…$/ }).waitFor({ state: 'detached' });

  await openLog(`?webhookId=${good.webhookId}`);
  for (let row = 0; row < 3; row += 1) {
    await boxes.nth(row).focus();
    await page.keyboard.press('Space');
  }
  expect(await panel().count()).toBe(0);
  await expectSound(page);
  const shown = await rows().evaluateAll((found) => found.map((row) => row.dataset.row!));
  const refused = shown[1]!;
  await limitReached(refused);
  portal.allow(/status of 429/);
  const before = good.receiver.received.length;
  await page.getByRole('button', { name: 'Send 3 again…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send 3 deliveries again' });
  await dialog.getByRole('button', { name: 'Send again' }).waitFor();
  await expectSound(page);
  const sending = '**/redeliver';
  let goOn = () => {};
  const isShown = new Promise<void>((resolve) => (goOn = resolve));
  await page.route(sending, async (route) => {
    await isShown;
    await route.continue();
  });
  await page.keyboard.press('Enter');
  await dialog.getByRole('progressbar').waitFor();
  for (let presses = 0; presses < 3; presses += 1) {
    await page.keyboard.press('Escape');
    await dialog.waitFor(); // what becomes of them is seen
    expect(await dialog.locator('footer').textContent()).toBe('StopSend again');
  }
  goOn();
  await dialog.getByText('2 deliveries on the way.').waitFor();
  await page.unroute(sending);
  await dialog
    .getByText('1 delivery refused: A delivery can be redelivered at most 100 times a day.')
    .waitFor();
  await dialog
    .getByRole('listitem')
    .getByText(/^Created of \S+ to Good$/)
    .waitFor();
  await expectSound(page);
  await until('both came again', () => good.receiver.received.length >= before + 2);
  const ids = good.receiver.received.slice(before).map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(2);
  await page.keyboard.press('Enter'); // Close has the focus
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Send 1 again…' }).waitFor();
  expect(await page.locator(`[data-row="${refused}"]`).getByRole('checkbox').isChecked()).toBe(true);
});

inBrowser(
  'the next page is read as the pointer comes to its button, and no row is missing or there twice',
  async () => {
    await placeOrders(account, 55);
    const all = async (query = '') => {
      const { data } = await account.call(`/v1/deliveries?limit=250${query}`);
      return (data.deliveries as { deliveryId: string }[]).map(({ deliveryId }) => deliveryId);
    };
    await until('all are in the log', async () => (await deliveriesOf(account, good.webhookId)).length > 55);
    const shown = () => rows().evaluateAll((found) => found.map((row) => row.dataset.row!));
    const older = page.getByRole('button', { name: 'Load older' });
    const pagesRead: string[] = [];
    const live = page.getByRole('button', { name: 'Live' });
    await openLog();
    await live.click(); // nothing is read any more but for the pointer
    await page.getByText('Paused').waitFor();
    page.on('request', (request) => {
      if (request.url().includes('cursor=')) pagesRead.push(request.url());
    });
    const before = await all();
    const isRead = page.waitForResponse((response) => response.url().includes('cursor='));
    await older.hover();
    await (await isRead).finished();
    expect(await rows().count()).toBe(50);
    await placeOrder(account, 'LATE-1');
    await until('it is in the log', async () => (await all()).length === before.length + 2);
    await older.click();
    await until('two pages', async () => (await rows().count()) === 100);
    expect(await shown()).toEqual(before.slice(0, 100));
    expect(pagesRead).toHaveLength(1);

    await older.hover(); // what is read now is not of the list that follows
    await page.getByRole('combobox', { name: 'Webhook' }).selectOption(good.webhookId);
    await until('the newest of one webhook', async () => (await rows().count()) === 50);
    await older.click();
    const ofGood = await all(`&webhookId=${good.webhookId}`);
    await until('two pages of it', async () => (await rows().count()) > 50);
    expect(await shown()).toEqual(ofGood.slice(0, 100));
  },
);

inBrowser('the operator, who may change nothing, has no button to send again', async () => {
  const link = await operator(service, `/shippers/${account.shipperId}/portal-link`, { method: 'POST' });
  const support = await openBrowser(service);
  await support.page.goto(link.data.url as string);
  await support.page.getByRole('button', { name: 'Open the portal' }).click();
  await support.page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  await support.page.goto('/deliveries');
  await support.page.locator('[data-row] a').first().click();
  await support.page.getByRole('button', { name: 'Next delivery' }).waitFor();
  await support.page.getByRole('heading', { name: /attempts?$/ }).waitFor();
  expect(await support.page.getByRole('checkbox').count()).toBe(0);
  expect(await support.page.getByRole('button', { name: /^Send/ }).count()).toBe(0);
  await expectSound(support.page);
  await support.close();
});

inBrowser(
  'the beginning of a number finds its shipments, in the list of shipments and in the log',
  async () => {
    await placeOrder(account, 'Begin-1');
    await placeOrder(account, 'Begin-2');
    const find = async (place: string, label: string, text: string) => {
      await page.goto(place);
      await page.getByRole('searchbox', { name: label }).fill(text);
      await page.keyboard.press('Enter');
    };
    for (const [place, label] of [
      ['/shipments', 'Your number or the tracking id'],
      ['/deliveries', 'Number of the shipment'],
    ] as const) {
      await find(place, label, 'Beg');
      await page.getByRole('button', { name: 'Remove: Number begins with Beg' }).waitFor();
      await untilFound(async () => (await page.locator('[data-row]').count()) === 2);
      expect(new URL(page.url()).pathname).toBe('/shipments');
    }
    await expectSound(page);
    await find('/shipments', 'Your number or the tracking id', 'Begin-2');
    await page.getByRole('heading', { level: 1, name: 'Begin-2' }).waitFor();
    await placeOrder(account, 'Lonely-1');
    await find('/shipments', 'Your number or the tracking id', 'Lone');
    await page.getByRole('heading', { level: 1, name: 'Lonely-1' }).waitFor();
    await find('/deliveries', 'Number of the shipment', 'Lone');
    await page.getByRole('button', { name: /^Remove: Tracking id PH/ }).waitFor();
    await find('/deliveries', 'Number of the shipment', 'lone');
    await page.getByText('No shipment has this number. Upper and lower case differ.').waitFor();
  },
);

inBrowser(
  'the id of a delivery opens it, and a webhook-id lists its deliveries, wherever a number is searched for',
  async () => {
    const { deliveryId } = (await deliveriesOf(account, good.webhookId))[0]!;
    const { eventId, trackingId } = (await account.call(`/v1/deliveries/${deliveryId}`)).data as {
      eventId: string;
      trackingId: string;
    };
    await operator(service, `/shipments/${trackingId}/events`, {
      body: { eventId: 'evt_own-7', state: 'PICKED_UP' },
    });
    await untilFound(
      async () => (await account.call('/v1/deliveries?eventId=evt_own-7')).data.deliveries.length === 2,
    );
    for (const [place, label] of [
      ['/shipments', 'Your number or the tracking id'],
      ['/deliveries', 'Number of the shipment'],
    ] as const) {
      const find = async (text: string) => {
        await page.goto(place);
        await page.getByRole('searchbox', { name: label }).fill(text);
        await page.keyboard.press('Enter');
      };
      await find(deliveryId);
      await page.getByRole('complementary').getByText(deliveryId).waitFor();
      for (const id of [eventId, 'evt_own-7']) {
        await find(id);
        await page.getByRole('button', { name: `Remove: webhook-id ${id}` }).waitFor();
        await untilFound(async () => (await page.locator('[data-row]').count()) === 2);
      }
      await expectSound(page);
      portal.allow(/status of 404/); // nothing has this id
      await find('0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b');
      await page.getByText(/^No shipment .* no delivery has this id or webhook-id\.$/).waitFor();
    }
  },
);

inBrowser(
  'the reason why a delivery waits, and its time, are shown in full with and without the panel',
  async () => {
    const late = await startHook(account, { interests: ['*'], description: 'Late' });
    Object.assign(late.response, { status: 503, headers: { 'retry-after': '7500' } });
    const trackingId = await placeOrder(account, 'LATE-1');
    await untilFound(async () =>
      (await deliveriesOf(account, late.webhookId)).some((one) => one.lastAttempt),
    );
    await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } });
    await untilFound(async () => (await deliveriesOf(account, late.webhookId)).length === 2);
    await service.sql(
      `update events set recorded_at = recorded_at - interval '9 hours 59 minutes'
      where shipment_id = (select shipment_id from shipments where tracking_id = $1)`,
      [trackingId],
    );
    const [held] = await deliveriesOf(account, late.webhookId);
    const cellsCut = () =>
      page.evaluate<
        string[]
      >(`[...document.querySelectorAll('[data-row] :is(.delivery-status, .delivery-time)')]
      .filter((cell) => {
        const text = new Range();
        text.selectNodeContents(cell);
        const [inner, outer] = [text.getBoundingClientRect(), cell.getBoundingClientRect()];
        return inner.left < outer.left || inner.right > outer.right;
      })
      .map(({ className, textContent }) => className + ': ' + textContent)`);
    try {
      for (const path of ['', `/${held!.deliveryId}`]) {
        await page.goto(`/deliveries${path}?webhookId=${late.webhookId}`);
        await rows().first().waitFor();
        for (const width of [390, 800, 1_030, 1_280, 1_440, 1_920]) {
          if (path && width < 1_025) continue; // the panel is a page of its own
          await page.setViewportSize({ width, height: 900 });
          const reason = rows()
            .first()
            .getByText(/^waits for Created \(503, retry in 2 h 4 min\)$/);
          expect(await reason.isVisible()).toBe(true);
          expect({ width, cut: await cellsCut() }).toEqual({ width, cut: [] });
        }
      }
    } finally {
      await page.setViewportSize({ width: 1_440, height: 900 });
      await late.close();
    }
  },
);
