import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectSound, inBrowser, leave, withPortal } from './browser.js';
import { operator, type Account } from '../support/client.js';
import { startHook, untilFound } from '../support/deliveries.js';
import type { SharedService } from '../support/shared-service.js';
import { placeOrders } from '../support/load.js';

const parkedAfter = 4;
let service: Pick<SharedService, 'url' | 'sql'>;
let account: Account;
let page: Page;
let recorded = 0;

withPortal((stage) => void ({ service, account, page } = stage), {
  settings: { RETRY_SCHEDULE: '100ms', TIME_SCALE: '0.25', PARKED_AFTER: String(parkedAfter) },
});

async function recordOrders(count: number): Promise<void> {
  await placeOrders(account, count);
  recorded += count;
  await untilFound(async () => {
    const { data } = await account.call('/v1/events?limit=250');
    return (data.events as unknown[]).length === recorded;
  });
}

const untilStatus = (webhookId: string, status: string, count: number) =>
  untilFound(async () => {
    const { data } = await account.call(`/v1/deliveries?webhookId=${webhookId}&status=${status}`);
    return (data.deliveries as unknown[]).length === count;
  });

const failed = () => page.getByRole('region', { name: 'What failed' });
const waiting = () => page.getByRole('region', { name: 'What is waiting' });
const never = () => page.getByRole('region', { name: 'What was never attempted' });

inBrowser(
  'what failed and what was never attempted are counted before they are sent, each by its own button',
  async () => {
    await recordOrders(2);
    const hook = await startHook(account, { interests: ['*'], ordering: 'NONE' });
    hook.response.status = 500;
    await recordOrders(3);
    await untilStatus(hook.webhookId, 'FAILED', 3);
    const attempts = hook.receiver.received.length;
    await page.goto(`/recover?webhookId=${hook.webhookId}`);
    await failed().getByText('3 notifications to send').waitFor();
    await never().getByText('2 notifications to send').waitFor();
    await expectSound(page);
    expect(hook.receiver.received).toHaveLength(attempts);

    hook.response.status = 200;
    await never().getByRole('button', { name: 'Send what was never attempted' }).click();
    await page.getByText('It will send 2 deliveries.').waitFor();
    await page.getByText('2 of 2 deliveries settled.').waitFor();
    await page.getByText(/^Never attempted, from /).waitFor();
    await never().getByText('There is nothing from this time that was never attempted.').waitFor();
    await failed().getByText('3 notifications to send').waitFor();
    expect(hook.receiver.received).toHaveLength(attempts + 2);

    await failed().getByRole('button', { name: 'Send again what failed' }).click();
    await page.getByText('It will send 3 deliveries.').waitFor();
    await page.getByText('3 of 3 deliveries settled.').waitFor();
    await failed().getByText('Nothing has used up its retries in this time.').waitFor();
    expect(hook.receiver.received).toHaveLength(attempts + 5);
    await leave(page, hook);
  },
);

inBrowser(
  'what waits for a retry is counted and can be sent now; what is held is told with what it waits for',
  async () => {
    const hook = await startHook(account, { interests: ['*'], ordering: 'NONE' });
    Object.assign(hook.response, { status: 500, headers: { 'retry-after': '3600' } });
    await recordOrders(2);
    await untilStatus(hook.webhookId, 'PENDING', 2);
    await page.goto(`/recover?webhookId=${hook.webhookId}`);
    await failed().getByText('Nothing has used up its retries in this time.').waitFor();
    await waiting().getByText('2 notifications to send').waitFor();
    const theirs = await waiting().getByRole('link', { name: 'See them' }).getAttribute('href');
    expect(theirs).toMatch(/\?webhookId=.*&status=PENDING&.*&attemptFailed=true$/);
    await expectSound(page);
    hook.response.status = 200;
    await waiting().getByRole('button', { name: 'Send it now' }).click();
    await page.getByText('It will send 2 deliveries.').waitFor();
    await waiting().getByText('Nothing waits for a retry in this time.').waitFor();
    await untilStatus(hook.webhookId, 'SUCCEEDED', 2);

    await account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'PATCH', body: { status: 'PAUSED' } });
    await recordOrders(1);
    await page.reload();
    await waiting().getByText('1 delivery is held until you resume the webhook.').waitFor();
    await expectSound(page);
    await waiting().getByRole('link', { name: '1 delivery is held' }).click();
    await page.getByRole('row').getByText('paused').waitFor();
    expect(new URL(page.url()).searchParams.get('status')).toBe('HELD');
    await leave(page, hook);
  },
);

inBrowser(
  'all that was missed is a choice of the custom range, shows its progress, and can be cancelled',
  async () => {
    const hook = await startHook(account, { interests: ['*'], ordering: 'NONE' });
    const missed = recorded;
    hook.response.delayMs = 60_000;
    await page.goto(`/recover?webhookId=${hook.webhookId}`);
    await page.getByText('Another time range, or only a part').click();
    await page.getByLabel('What', { exact: true }).selectOption('All that it missed');
    await page.getByRole('button', { name: 'Count' }).click();
    const custom = page.getByRole('group');
    await custom.getByText(`${missed} notifications to send`).waitFor();
    await expectSound(page);
    await custom.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText(`It will send ${missed} deliveries.`).waitFor();
    await page.getByRole('progressbar', { name: 'Progress' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('It was cancelled').waitFor();
    await leave(page, hook);
  },
);

inBrowser('where the circuit is open, the page says until when what it sends waits', async () => {
  const hook = await startHook(account, { interests: ['*'], ordering: 'NONE' });
  hook.response.status = 500;
  await recordOrders(12);
  await untilFound(
    async () => (await account.call(`/v1/webhooks/${hook.webhookId}`)).data.health.circuit === 'OPEN',
  );
  await page.goto(`/recover?webhookId=${hook.webhookId}`);
  await page
    .getByText('The circuit is open: what you send again waits until a probe or a test succeeds.')
    .waitFor();
  await leave(page, hook);
});

inBrowser(
  'for a parked webhook the page counts what a replay sends, and says what comes without one',
  async () => {
    const hook = await startHook(account, { interests: ['*'], status: 'PAUSED' });
    const missed = recorded;
    await recordOrders(parkedAfter);
    await untilFound(
      async () => (await account.call(`/v1/webhooks/${hook.webhookId}`)).data.health.parkedSince !== null,
    );
    await recordOrders(2);
    await page.goto(`/recover?webhookId=${hook.webhookId}`);
    const ofReplay = missed + parkedAfter;
    await never().getByText(`${ofReplay} notifications to send`).waitFor();
    await page.getByText('The webhook is paused: what you send again waits').waitFor();
    await page.getByText('They are sent automatically, in order, once the webhook is called again').waitFor();
    await expectSound(page);
    await never().getByRole('button', { name: 'Send what was never attempted' }).click();
    await page.getByText(`It will send ${ofReplay} deliveries.`).waitFor();
    await page.getByText('What a replay has waiting is still counted below.').waitFor();
    // Until it has found them, those that are held may go without it.
    const walked = `select 1 from replays where webhook_id = $1 and kind = 'ASKED' and walked_at is not null`;
    await untilFound(async () => (await service.sql(walked, [hook.webhookId])).length > 0);
    await account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
    await page.getByText(`${ofReplay} of ${ofReplay} deliveries settled.`).waitFor();
    await untilStatus(hook.webhookId, 'SUCCEEDED', ofReplay + 2);
    await never().getByText('There is nothing from this time that was never attempted.').waitFor();
    expect(hook.receiver.received).toHaveLength(ofReplay + 2);
    await leave(page, hook);
  },
);

inBrowser('where all that is left was erased, the page says so', async () => {
  const hook = await startHook(account, { interests: ['*'] });
  const [event] = (await account.call('/v1/events?limit=1')).data.events as { trackingId: string }[];
  await operator(service, `/shipments/${event!.trackingId}/erase`, { method: 'POST' });
  await page.goto(`/recover?webhookId=${hook.webhookId}`);
  await page.getByText('Another time range, or only a part').click();
  await page.getByLabel('Tracking id (optional)').fill(event!.trackingId);
  await page.getByRole('button', { name: 'Count' }).click();
  await page.getByRole('group').getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('what is left from that time was erased').waitFor();
  await leave(page, hook);
});

inBrowser('an attempt whose response was erased does not say that the response had no body', async () => {
  const hook = await startHook(account, { interests: ['*'], ordering: 'NONE' });
  hook.response.body = 'received';
  await recordOrders(1);
  await untilStatus(hook.webhookId, 'SUCCEEDED', 1);
  const [delivery] = (await account.call(`/v1/deliveries?webhookId=${hook.webhookId}`)).data.deliveries;
  await page.goto(`/deliveries/${delivery.deliveryId}`);
  await page.getByText('received', { exact: true }).waitFor();
  const kept = page.getByText('The service keeps phases and headers of failures only');
  await kept.waitFor();
  await operator(service, `/shipments/${delivery.trackingId}/erase`, { method: 'POST' });
  await page.reload();
  await page.getByText('No body is stored. It may have been erased').waitFor();
  expect(await kept.count()).toBe(0);
  await leave(page, hook);
});
