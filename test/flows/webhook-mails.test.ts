import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { placeOrder, registerAccount, registerWebhook, request, type Account } from '../support/client.js';
import { startHook } from '../support/deliveries.js';
import { startServiceWith, type Service } from '../support/harness.js';
import { refusal, startMailServer, type MailServer } from '../support/mail/server.js';
import { startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';

let mails: MailServer;
let service: Service;

beforeAll(async () => {
  mails = await startMailServer();
  service = await startServiceWith({
    SMTP_URL: mails.url,
    MAIL_FROM: 'Parcelhook <parcelhook@mail.example>',
    TIME_SCALE: '0.1',
    RETRY_SCHEDULE: '1h',
  });
});
afterEach(() => {
  mails.onRecipient = () => undefined;
});
afterAll(async () => {
  await service?.stop();
  await mails?.close();
});

const owed = async () =>
  (
    await service.sql<{ n: number }>(
      `select (select count(*) from mails where next_try_at is not null)::int
              + (select count(*) from notices_to_mail)::int as n`,
    )
  )[0]!.n;
const noneIsOwed = () => until('no mail is owed', async () => (await owed()) === 0);
const mailed = (to: string) => mails.received.filter((mail) => mail.to.includes(to));
const set = (account: Account, webhookId: string, body: object) =>
  account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body });

test('the address of a user is told that a webhook fails and recovers, once each, with nothing that a stranger wrote', async () => {
  const account = await registerAccount(service, 'owner@example.com');
  const hook = await startHook(account, { interests: ['CREATED'] });
  const targetAddress = `${hook.receiver.url}?token=of-the-receiver`;
  const { data } = await set(account, hook.webhookId, { targetAddress, notifyEmail: 'Owner@example.com' });
  expect(data).toMatchObject({ notifyEmail: 'Owner@example.com', notifyEmailConfirmed: true });
  Object.assign(hook.response, { status: 502, body: 'written by a stranger' });
  const strange = ['www.stranger.example/1', 'Ana_Torres_1', '55-1234-5678'];
  const trackingIds = await Promise.all(strange.map((number) => placeOrder(account, number)));
  const numbered = await placeOrder(account, 'SHOP-2026/1001');
  const anHourAgo = `update circuits set failing_since = now() - interval '1 hour'
    where webhook_id = $1 and failed_attempts = 4 returning 1`;
  await until(
    'it has failed four times',
    async () => (await service.sql(anHourAgo, [hook.webhookId])).length === 1,
  );
  const [failing] = await mails.waitFor(1, 'Owner@example.com');
  expect(failing!.subject).toMatch(/^Webhook failing: /);
  for (const text of [failing!.text, failing!.html]) {
    expect(text).toContain('had the status 502');
    expect(text).toContain(hook.receiver.url);
    expect(text).toMatch(/failing since \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    expect(text).toContain(`/webhooks/${hook.webhookId}`);
    for (const trackingId of trackingIds) expect(text).toMatch(new RegExp(`${trackingId}[,.]`));
    expect(text).toContain(`${numbered} (SHOP-2026/1001)`);
    expect(text).not.toMatch(/stranger|Torres|5678|of-the-receiver|whsec_/);
  }
  // While the mail server is gone, or refuses for now, the next one is owed; it comes once.
  const { port } = mails;
  await mails.close();
  Object.assign(hook.response, { status: 200 });
  await until('a test succeeds', async () => {
    const sent = await account.call(`/v1/webhooks/${hook.webhookId}/test`, { method: 'POST' });
    return sent.httpStatus === 200;
  });
  await until(
    'it was tried',
    async () =>
      (
        await service.sql(
          `select from mails where kind = 'NOTICE' and next_try_at is not null and attempts > 1`,
        )
      ).length > 0,
  );
  mails = await startMailServer(port);
  let tries = 0;
  mails.onRecipient = () => {
    tries += 1;
    if (tries === 1) throw refusal(450, 'busy');
  };
  const [recovered] = await mails.waitFor(1, 'Owner@example.com');
  expect(recovered!.subject).toMatch(/^Webhook recovered: /);
  await noneIsOwed();
  expect(mailed('Owner@example.com')).toHaveLength(1);
  await hook.close();
});

test('an address that is no user’s is told nothing before it has confirmed, by a button behind a link', async () => {
  const account = await registerAccount(service, 'shop@example.com');
  const receiver = await startReceiver(() => ({ status: 410 }));
  const own = { interests: ['CREATED'], notifyEmail: 'stranger@example.com' };
  const [early, late] = [
    await registerWebhook(account, receiver.url, own),
    await registerWebhook(account, receiver.url, { ...own, status: 'PAUSED' }),
  ];
  await placeOrder(account);
  await until(
    'it is disabled',
    async () => (await account.call(`/v1/webhooks/${early.webhookId}`)).data.status === 'DISABLED',
  );
  await noneIsOwed();
  const [confirmation, ...others] = mailed('stranger@example.com');
  expect([confirmation!.subject, others]).toEqual(['Confirm this address for Parcelhook', []]);
  expect(confirmation!.text).not.toContain(receiver.url);
  const link = /\S+\/confirm-address\?token=\S+/.exec(confirmation!.text)![0];
  const shown = async () =>
    (await account.call(`/v1/webhooks/${late.webhookId}`)).data.notifyEmailConfirmed as boolean;
  expect((await request(link)).httpStatus).toBe(200);
  expect(await shown()).toBe(false); // programs that check mails open links
  const confirm = () =>
    request(link.split('?')[0]!, { body: { token: new URL(link).searchParams.get('token') } });
  expect((await confirm()).httpStatus).toBe(200);
  expect((await confirm()).httpStatus).toBe(404);
  expect(await shown()).toBe(true);
  await set(account, late.webhookId, { status: 'ACTIVE' });
  const [, disabled] = await mails.waitFor(2, 'stranger@example.com');
  expect(disabled!.subject).toMatch(/^Webhook disabled: /);
  expect(disabled!.text).toContain('410 (Gone)');
  await receiver.close();
});
