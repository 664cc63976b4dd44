import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectSound, inBrowser, openBrowser } from '../../portal/browser.js';
import { basic, fromPortal, request, sampleOrder } from '../../support/client.js';
import { newFolder, type Folder } from '../../support/deployment.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/harness.js';
import { until } from '../../support/until.js';
import { untilFound } from '../../support/deliveries.js';

/** A newcomer's first start: `npm start` with nothing set, but for the port. */
let folder: Folder;
let running: RunningProcess;

const start = async () => {
  running = await startProcess({ DATA_DIR: folder.path, PORT: '0' });
  await until('the greeting', () => /^https?:\/\S+#key=/m.test(running.output()));
};
const greetingLink = () => /^https?:\/\S+#key=\S+$/m.exec(running.output())![0];

beforeAll(async () => {
  folder = newFolder();
  await start();
}, 90_000);
afterAll(async () => {
  if (running) await stopProcess(running);
  folder?.remove();
});

const accountOf = (link: string) => {
  const {
    key = '',
    email = '',
    password = '',
  } = Object.fromEntries(new URLSearchParams(new URL(link).hash.slice(1)));
  return { key, email, password };
};

test('from a fresh start, a log-in, a webhook to the inbox and an order are enough to see it arrive verified', async () => {
  const { key, email, password } = accountOf(greetingLink());
  const login = await request(`${running.url}/v1/session`, {
    body: { key, email, password },
    headers: fromPortal,
  });
  const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
  const call = (path: string, body?: object) =>
    request(`${running.url}${path}`, { ...(body && { body }), headers: { ...fromPortal, cookie } });
  const { address } = (await call('/v1/inbox')).data as { address: string };
  const webhook = await call('/v1/webhooks', { interests: ['*'], targetAddress: address });
  const { trackingId } = (await call('/v1/shipments', sampleOrder())).data;
  const inbox = await untilFound(async () => {
    const { data } = await call('/v1/inbox');
    return data.total > 0 && data;
  });
  expect(inbox.items).toMatchObject([{ verified: true, answered: '200' }]);
  expect(JSON.parse(inbox.items[0].body)).toMatchObject({ state: 'CREATED', tracking_id: trackingId });
  const { webhookId } = webhook.data as { webhookId: string };
  const token = (
    await request(`${running.url}/v1/login?key=${key}`, {
      headers: { authorization: basic(email, password) },
    })
  ).data.token as string;
  expect(
    (
      await request(`${running.url}/v1/webhooks/${webhookId}?key=${key}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
      })
    ).httpStatus,
  ).toBe(200);
}, 60_000);

test('a fresh start raises no alarm before the first job can have come', () => {
  expect(running.output()).not.toContain('health check fails');
});

test('the inbox keeps its address over a restart, and forgets what arrived', async () => {
  const inbox = async () => {
    const { key, email, password } = accountOf(greetingLink());
    const headers = { authorization: basic(email, password) };
    const { token } = (await request(`${running.url}/v1/login?key=${key}`, { headers })).data;
    const response = await request(`${running.url}/v1/inbox?key=${key}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return response.data as { address: string; total: number };
  };
  const before = await inbox();
  expect((await request(before.address, { body: {} })).httpStatus).toBe(200);
  await stopProcess(running);
  await start();
  const after = await inbox();
  expect(new URL(after.address).pathname).toBe(new URL(before.address).pathname);
  expect(after.total).toBe(0);
}, 60_000);

inBrowser(
  'who opens the greeting’s link logs in with what is filled in, and sees notifications arrive within a minute',
  async () => {
    const { page, close } = await openBrowser(running);
    try {
      const link = greetingLink();
      const { key, email, password } = accountOf(link);
      const sinceMs = Date.now();
      await page.goto(link);
      expect(await page.getByLabel('Account key').inputValue()).toBe(key);
      expect(await page.getByLabel('E-mail').inputValue()).toBe(email);
      expect(await page.getByLabel('Password').inputValue()).toBe(password);
      expect(new URL(page.url()).hash).toBe('');
      const choose = async (name: string) => {
        const inEffect = page.waitForResponse((response) => response.request().method() === 'PATCH');
        await page.getByLabel(name).check();
        await inEffect;
      };
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).click();
      await page.getByRole('button', { name: 'Use it as a webhook' }).click();
      await page.getByText('A webhook sends here').waitFor();
      await page.getByRole('button', { name: 'Place a sample order' }).click();
      await page.getByRole('button', { name: 'Simulate its states' }).click();
      const arrived = page.locator('.arrived > li');
      await arrived.filter({ hasText: 'Delivered' }).first().waitFor();
      await until('all states', async () => (await arrived.count()) === 5);
      expect(Date.now() - sinceMs).toBeLessThan(60_000);
      expect(
        await arrived.filter({ hasText: 'Verified' }).filter({ hasNotText: 'Not verified' }).count(),
      ).toBe(5);
      await arrived.first().locator('summary').click();
      await arrived.first().getByText('webhook-signature').waitFor();
      await expectSound(page);

      await choose('Respond 500');
      await page.getByRole('button', { name: 'Place another order' }).click();
      await arrived.filter({ hasText: 'responded 500' }).first().waitFor();
      await choose('Respond 200');
      await page.getByRole('button', { name: 'Empty' }).click();
      await page.getByText('Nothing yet').waitFor();
      await expectSound(page);
      const { output } = running;
      for (const line of output()
        .split('\n')
        .filter((text) => text.startsWith('{')))
        for (const secret of [key, password]) expect(line).not.toContain(secret);
    } finally {
      await close();
    }
  },
  120_000,
);

inBrowser(
  'the quick start goes on with the webhook of the inbox, and says what the inbox verified',
  async () => {
    const { page, close } = await openBrowser(running);
    try {
      await page.goto(greetingLink());
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('button', { name: 'Quick start' }).click();
      await page.getByRole('button', { name: 'Use this webhook' }).click();
      await page.getByRole('button', { name: 'Place the sample order' }).click();
      await page.locator('.arrivals').getByText('Verified', { exact: true }).waitFor();
      await page.getByText('Done. Your inbox verified a notification.').waitFor();
      const doneSteps = page.getByRole('heading', { level: 2, name: /\(done\)$/ });
      await until('all four steps are done', async () => (await doneSteps.count()) === 4);
      await expectSound(page);
    } finally {
      await close();
    }
  },
);

inBrowser(
  'how the inbox responds shows as soon as it is chosen, and goes back if it cannot be set',
  async () => {
    const { page, allow, close } = await openBrowser(running);
    try {
      await page.goto(greetingLink());
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).click();
      const choice = (name: string) => page.getByRole('radio', { name });
      const isChosen = (name: string) => until(`${name} is chosen`, () => choice(name).isChecked());
      await isChosen('Respond 200');
      let letGo = () => {};
      const held = new Promise<void>((resolve) => (letGo = resolve));
      await page.route('**/v1/inbox', async (route) => {
        if (route.request().method() === 'PATCH') await held;
        await route.continue();
      });
      await choice('Respond 410').click();
      await isChosen('Respond 410');
      await page.getByText('the address is gone for good').waitFor();
      const inEffect = page.waitForResponse((response) => response.request().method() === 'PATCH');
      letGo();
      await inEffect;
      await isChosen('Respond 410');
      await page.unroute('**/v1/inbox');

      allow(/Failed to load resource/);
      await page.route('**/v1/inbox', (route) =>
        route.request().method() === 'PATCH' ? route.abort('connectionreset') : route.continue(),
      );
      await choice('Respond 200').click();
      await page.getByText('Parcelhook did not respond.').waitFor();
      await isChosen('Respond 410');
      await page.unroute('**/v1/inbox');
      await choice('Respond 200').click();
      await isChosen('Respond 200');

      allow(/^exception: /);
      await page.route('**/v1/inbox*', (route) => route.fulfill({ json: { data: null } }));
      await choice('Respond 410').click();
      await page.unroute('**/v1/inbox*');
      await isChosen('Respond 200');
    } finally {
      await close();
    }
  },
  120_000,
);
