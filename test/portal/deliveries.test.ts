import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectSound, inBrowser, leave, withPortal, type Portal, type Stage } from './browser.js';
import { operator, placeOrder, registerWebhook, type Account } from '../support/client.js';
import { startHook, untilFound, type Hook } from '../support/deliveries.js';
import { placeOrders } from '../support/load.js';
import { until } from '../support/until.js';

const planted = '<script>alert(1)</script>';

let account: Account;
let service: Stage['service'];
let good: Hook;
let bad: Hook;
let portal: Portal;
let page: Page;

withPortal(async (stage) => {
  ({ account, portal, page, service } = stage);
  good = await startHook(account, { interests: ['*'], description: `Good ${planted}`, ordering: 'NONE' });
  bad = await startHook(account, { interests: ['*'], description: 'Bad', ordering: 'NONE' });
  stage.onEnd(good.receiver.close);
  stage.onEnd(bad.receiver.close);
  Object.assign(bad.response, {
    status: 500,
    body: `{"error":"${planted}"}`,
    headers: { 'retry-after': '1800' },
  });
  await placeOrder(account, planted);
  await untilFound(async () => {
    const { data } = await account.call('/v1/deliveries');
    return (
      (data.deliveries as { lastAttempt: unknown }[]).filter(({ lastAttempt }) => lastAttempt).length === 2
    );
  });
});

const rows = () => page.locator('[data-row]');
const panel = () => page.getByRole('complementary');
const openLog = async (query = '') => {
  await page.goto(`/deliveries${query}`);
  await rows().first().waitFor();
};

/** All that must stay under the reader: rows, scroll, focus. */
const view = async () => ({
  rows: await rows().evaluateAll((rows) =>
    rows.map((row): [string, number] => [
      String(row.dataset.row),
      Math.round(row.getBoundingClientRect().top),
    ]),
  ),
  scrollY: await page.evaluate<number>('scrollY'),
  focus: await page.evaluate<string | null>('document.activeElement.getAttribute("href")'),
});

inBrowser(
  'a delivery tells what was sent and responded, and by keyboard the focus goes in and comes back',
  async () => {
    await openLog(`?webhookId=${bad.webhookId}`);
    const link = rows().first().getByRole('link');
    await link.focus();
    const before = await view();
    await page.keyboard.press('Enter');
    await panel()
      .getByText(
        /^Your server responded 500 in \d+ m?s; next attempt in \d+ min\. It failed inside: search its log for webhook-id [\w-]{36} at [\d-]{10} [\d:]{8} UTC\.$/,
      )
      .waitFor();
    expect(await page.locator(':focus').innerText()).toBe('Created');
    await panel().locator('.button.plain', { hasText: 'Diagnose' }).waitFor(); // a 500 is hardly the secret
    const phases = panel().getByText(/^(connect|first byte) \d+ ms$/);
    expect(await phases.allInnerTexts()).toEqual([
      expect.stringMatching(/^connect/),
      expect.stringMatching(/^first byte/),
    ]);
    const tops = await phases.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
    expect(new Set(tops).size).toBe(1); // in one line
    await panel().getByText('127.0.0.1', { exact: true }).waitFor();
    await panel().getByText('timeout=5').waitFor();
    await panel().getByText('Headers as sent').click();
    await panel().getByText('webhook-signature', { exact: true }).waitFor();
    await panel().getByRole('region', { name: 'the response' }).getByText(planted).waitFor();
    await panel().getByRole('button', { name: 'Raw' }).click();
    const payload = await panel().getByRole('region', { name: 'the payload' }).innerText();
    expect(JSON.parse(payload)).toMatchObject({ state: 'CREATED', shipper_tracking_id: planted });
    await expectSound(page);
    await page.keyboard.press('Escape');
    await panel().waitFor({ state: 'detached' });
    expect(await view()).toEqual(before);
    await page.goBack();
    await panel().waitFor();
  },
);

inBrowser('a wrong secret is found from the red line, with nothing to paste but the secret', async () => {
  const refusing = await startHook(account, { description: 'Refusing' });
  Object.assign(refusing.response, {
    status: 400,
    body: 'bad signature',
    headers: { 'retry-after': '1800' },
  });
  const trackingId = await placeOrder(account, 'REFUSED');
  await openLog(`?webhookId=${refusing.webhookId}`);
  await rows().getByText('Retrying 1/10').waitFor();
  await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } });
  await page.goto(`/shipments/${trackingId}`);
  const reason = page.getByText(/waits for Created \(400, retry in \d+ min\)/);
  await reason.waitFor();
  await openLog(`?webhookId=${refusing.webhookId}`);
  await reason.waitFor();
  const widths = ({ scrollWidth, clientWidth }: Record<'scrollWidth' | 'clientWidth', number>) =>
    scrollWidth - clientWidth;
  expect(await page.locator('.delivery-status').filter({ has: reason }).evaluate(widths)).toBe(0); // nothing cut off
  await openLog(`?webhookId=${refusing.webhookId}&state=PICKED_UP`);
  await rows().first().getByRole('link').click();
  await panel()
    .getByRole('link', { name: /^It waits for Created \(400, retry in \d+ min\)/ })
    .click();
  await panel()
    .getByText(/^Your server responded 400 in .*If it verifies signatures, this is what a wrong secret looks/)
    .first()
    .waitFor();
  await panel().locator('.button.primary', { hasText: 'Diagnose' }).click();
  await page.getByText('bad signature').waitFor();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
  const secret = page.getByRole('textbox', { name: 'Secret', exact: true });
  const diagnose = page.getByRole('button', { name: 'Diagnose' });
  await secret.fill(`whsec_${Buffer.alloc(32, 7).toString('base64')}`);
  await diagnose.click();
  await page.getByText("Wrong secret: another webhook's, or an old one").waitFor();
  expect(await page.locator('.verdict.bad').count()).toBe(1);
  await expectSound(page);
  await secret.fill(`"${refusing.secret}"`);
  await diagnose.click();
  await page.getByText('The secret is not as it was issued').waitFor();
  await secret.fill(refusing.secret);
  await diagnose.click();
  await page.getByText('This is the right secret').waitFor();
  await page.getByRole('button', { name: 'Compare with what your server has' }).click();
  const { body } = (await refusing.receiver.waitFor(1))[0]!;
  await page.getByRole('textbox', { name: 'Raw body' }).fill(JSON.stringify(JSON.parse(body), null, 2));
  await diagnose.click();
  await page.getByText('The body is not what was sent').waitFor();
  await page.getByText('First difference').waitFor();
  await expectSound(page);
  expect(requests.filter((request) => !/^GET \S+\/(v1|assets)\//.test(request))).toEqual([]);
  expect(requests.filter((request) => request.includes('whsec'))).toEqual([]);
  const rotate = `/v1/webhooks/${refusing.webhookId}/rotate-secret`;
  const { data: rotated } = await account.call(rotate, { method: 'POST' });
  await page.reload();
  await secret.fill(rotated.secret as string);
  await diagnose.click();
  await page.getByText(/^This attempt was made before the secret was rotated at /).waitFor();
  await page.getByText("Wrong secret: another webhook's, or an old one").waitFor();
  await expectSound(page);
  await page.getByRole('link', { name: 'Send the delivery again' }).click();
  await panel().getByRole('button', { name: 'Send again' }).waitFor();
  await leave(page, refusing);
});

inBrowser('what is sent again shows its result as soon as the receiver has responded', async () => {
  await openLog(`?webhookId=${bad.webhookId}`);
  await rows().first().getByRole('link').click();
  await panel().getByRole('button', { name: 'Send again' }).click();
  await panel().getByRole('status').getByText('Failed again').waitFor();
  bad.response.status = 204;
  await panel().getByRole('button', { name: 'Send again' }).click();
  await panel().getByRole('status').getByText('Sent again').waitFor();
  await panel().getByText('Attempt 3, by hand').waitFor();
  await rows().first().getByText('Succeeded').waitFor();
  bad.response.status = 500;
});

inBrowser(
  'new rows wait behind a button, and move nothing under the reader; a pause lets the list rest',
  async () => {
    await openLog();
    await rows().last().getByRole('link').focus();
    const before = await view();
    await placeOrder(account, 'NEW-1');
    const fresh = page.getByRole('button', { name: /^\d+ new$/ });
    await fresh.waitFor();
    expect(await view()).toEqual(before);
    await fresh.click();
    await rows().filter({ hasText: 'NEW-1' }).first().waitFor();
    await until('the focus is on the first row', () =>
      page.evaluate<boolean>("document.activeElement === document.querySelector('[data-row] a')"),
    );
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByText('Paused').first().waitFor();
    let reads = 0;
    page.on('request', () => reads++);
    await placeOrder(account, 'NEW-2');
    const live = await portal.context.newPage();
    await live.goto('/deliveries');
    await live.locator('[data-row]').first().waitFor();
    await placeOrder(account, 'NEW-3');
    await live.getByRole('button', { name: /^\d+ new$/ }).waitFor();
    await live.close();
    expect([reads, await fresh.count()]).toEqual([0, 0]);
    await page.getByRole('button', { name: 'Live' }).click();
    await fresh.waitFor();
  },
);

inBrowser('a view is shared by its address, and filters that cannot be are named', async () => {
  await openLog();
  await page.getByRole('combobox', { name: 'Webhook' }).selectOption(good.webhookId);
  await page.getByRole('searchbox', { name: 'Number of the shipment' }).fill(planted);
  await page.keyboard.press('Enter');
  await until('one row', async () => (await rows().count()) === 1);
  const shared = page.url();
  await page.goto('about:blank');
  await page.goto(shared);
  await rows().first().waitFor();
  expect(await rows().count()).toBe(1);
  expect(await rows().first().innerText()).toContain(planted);
  await expectSound(page);
  portal.allow(/status of 400/);
  await page.goto('/deliveries?status=NOPE');
  await page.getByRole('alert').getByText('status must be one of PENDING').waitFor();
  await page.getByRole('alert').getByRole('button', { name: 'Clear the filters' }).click();
  await rows().nth(1).waitFor();
});

inBrowser('on a phone a delivery is a page, and back leads to where the list was', async () => {
  await placeOrders(account, 10);
  await page.setViewportSize({ width: 390, height: 800 });
  try {
    await openLog();
    await rows().nth(12).scrollIntoViewIfNeeded();
    const before = await view();
    await rows().nth(12).getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Created' }).waitFor();
    await rows().first().waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: '← Deliveries' }).click();
    await rows().first().waitFor();
    expect((await view()).scrollY).toBe(before.scrollY);
  } finally {
    await page.setViewportSize({ width: 1440, height: 900 });
  }
});

inBrowser(
  'however far back one goes, at most 300 rows are in the page, and what is read stays in its place',
  async () => {
    await placeOrders(account, 180);
    await openLog();
    const older = page.getByRole('button', { name: 'Load older' });
    for (let loaded = 1; loaded < 7; loaded++) {
      await older.scrollIntoViewIfNeeded();
      const last = (await view()).rows.at(-1)!;
      await older.click();
      const moved = await untilFound(async () => {
        const { rows } = await view();
        return (
          rows.at(-1)![0] !== last[0] && { row: rows.find(([id]) => id === last[0]), count: rows.length }
        );
      });
      expect(moved.count).toBeLessThanOrEqual(300);
      expect(Math.abs(Number(moved.row![1]) - Number(last[1]))).toBeLessThanOrEqual(1);
    }
    expect(await rows().count()).toBeGreaterThan(250);
    await page.evaluate('scrollTo(0, 0)');
    await page.getByRole('button', { name: 'Back to the newest' }).click();
    await until('the newest page', async () => (await rows().count()) === 50);
  },
);

inBrowser(
  'while the API is away the page says so and keeps what it shows, and it recovers by itself',
  async () => {
    await openLog();
    const before = await rows().count();
    portal.allow(/Failed to load resource/);
    await portal.context.setOffline(true);
    await page.getByText('Parcelhook is not responding.').waitFor();
    expect(await rows().count()).toBe(before);
    await portal.context.setOffline(false);
    await page.getByText('Parcelhook is not responding.').waitFor({ state: 'detached' });
    await placeOrder(account, 'AFTER');
    await page.getByRole('button', { name: /^\d+ new$/ }).click();
    await rows().filter({ hasText: 'AFTER' }).first().waitFor();
  },
);

/** Adds deliveries of the last three hours; only the oldest got a 418. */
const plant = (webhookId: string, count: number) =>
  service.sql(
    `with e as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       select overlay(gen_random_uuid()::text placing left(uuid_floor(moment)::text, 14) || '7' from 1 for 15)::uuid,
              $1::uuid, n, 'CREATED', moment, '{}'
         from generate_series(1, $3::int) n
        cross join lateral (select now() - n * interval '3 hours' / $3::int as moment) m
       returning event_id, sequence
     )
     insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count, completed_at,
                             trigger, started_at, status_code)
     select $1, delivery_id(event_id, $2::uuid), event_id, $2, 'CREATED', 'SUCCEEDED', 1, now(), 'SCHEDULED', now(),
            case sequence when $3 then 418 else 200 end
       from e`,
    [account.shipperId, webhookId, count],
  );

inBrowser('a search without a result goes on from where it is, however long one waits', async () => {
  const { webhookId } = await registerWebhook(account, good.receiver.url, { status: 'PAUSED' });
  await plant(webhookId, 12_000); // a page checks 2,500 to 5,000
  await page.goto(`/deliveries?webhookId=${webhookId}&statusCode=418`);
  const further = page.getByRole('button', { name: 'Look further back' });
  const newestIsReadTwice = async () => {
    for (let times = 0; times < 2; times += 1)
      await page.waitForResponse(
        (response) => response.url().includes('statusCode=418') && !response.url().includes('cursor='),
      );
  };
  let looks = 0;
  for (; (await rows().count()) === 0; looks += 1) {
    expect(looks).toBeLessThan(6);
    await further.waitFor();
    await newestIsReadTwice();
    const isRead = page.waitForResponse((response) => response.url().includes('cursor='));
    await further.click();
    await (await isRead).finished();
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  }
  expect(looks).toBeGreaterThan(1);
  expect(await rows().count()).toBe(1);
  await expectSound(page);
});
