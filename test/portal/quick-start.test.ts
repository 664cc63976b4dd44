import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { languages, recipeOf } from '../../src/portal/places/quick-start/snippets.js';
import { placeOrder, type Account } from '../support/client.js';
import { programFile } from '../support/program.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { untilFound } from '../support/deliveries.js';
import { until } from '../support/until.js';
import { expectSound, inBrowser, withPortal } from './browser.js';

let service: { url: string };
let account: Account;
let receiver: Receiver;
let page: Page;

withPortal(async (stage) => {
  ({ service, account, page } = stage);
  receiver = await startReceiver();
  stage.onEnd(receiver.close);
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
const currentStep = () => page.locator('[aria-current=step] h2');
const stepIs = (title: string) => currentStep().getByText(title, { exact: true }).waitFor();
const doneSteps = () => page.getByRole('heading', { level: 2, name: /\(done\)$/ });
const testOutcome = () => page.locator('.step').getByText(/^Your server responded 200 in /);
/** The step has the focus, one step is current, and all is so after a reload. */
async function expectKept(title: string, done: number): Promise<void> {
  await stepIs(title);
  await until(`the focus is on ${title}`, () => page.locator('[aria-current=step] h2:focus').isVisible());
  await page.reload();
  await stepIs(title);
  expect([title, await doneSteps().count(), await currentStep().count()]).toEqual([title, done, 1]);
  const stored = await page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })');
  expect(stored + page.url()).not.toContain('whsec_');
}

inBrowser(
  'the quick start leads step by step from an empty account to one’s own server, over reloads',
  async () => {
    await page.goto('/');
    await page.getByRole('heading', { level: 1, name: 'Quick start' }).waitFor();
    await stepIs('Create a webhook');
    expect(await button('Send test').count()).toBe(0);
    await expectSound(page);
    await page.getByLabel('Address of your server').fill(receiver.url);
    await button('Create webhook').click();

    const shown = page.getByRole('dialog', { name: 'Webhook created' });
    await shown.getByText(/^WEBHOOK_SECRET=whsec_/).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 400);
    await expectSound(page);
    await button('Copy the secret').click();
    const secret = await untilFound(async () => {
      const text = await copied();
      return text.startsWith('WEBHOOK_SECRET=') && text.replace('WEBHOOK_SECRET=', '');
    });
    await button('I have stored it').click();
    await expectKept('Send a test', 1);
    await page.getByText('Its secret was shown when it was created. If it is lost, rotate it on').waitFor();

    await page.getByText('If your server verifies signatures, start it with the secret of step 1').waitFor();
    await button('Send test').click();
    await testOutcome().waitFor();
    await expectKept('Verify the signature', 2);
    await testOutcome().waitFor();
    await expectSound(page);
    await button('Go').click();
    await page.getByRole('link', { name: 'A receiver in Go' }).waitFor();
    await button('Python').click();
    await page.getByText('def verify(headers').waitFor();
    await page.reload();
    await page.getByText('def verify(headers').waitFor();
    await button('My server verifies it').click();

    await expectKept('Place the first order', 3);
    await button('Place the sample order').click();
    await page.locator('.arrivals').getByText('Succeeded').waitFor();
    await expectSound(page);
    await page.reload();
    await page.locator('.arrivals').getByText('Succeeded').waitFor();
    await page.getByText('Done. Your server accepted a notification.').waitFor();
    await button('Continue').click();

    await expectKept('Now your own server', 4);
    await expectSound(page);
    await page.getByText('Once your server can be reached from the internet, edit').waitFor();
    await button('Copy the command').click();
    const command = await untilFound(async () => {
      const text = await copied();
      return text.startsWith('npx parcelhook listen ') && text;
    });
    await expectForwarded(command, secret);
    const recipe = page.getByRole('link', { name: 'A receiver in Python' });
    expect(await recipe.getAttribute('href')).toBe('/docs/receiving#fastapi');
    await button('Show its notifications').click();
    await page.locator('.arrivals').getByText('Succeeded').waitFor();

    const [tested, created] = await receiver.waitFor(2);
    for (const { body, headers } of [tested!, created!])
      new Webhook(secret).verify(body, headers as Record<string, string>);
  },
);

/** The command forwards what happens from now on, signed with the webhook's secret. */
async function expectForwarded(command: string, secret: string): Promise<void> {
  const own = await startReceiver();
  const here = command
    .replace('npx parcelhook', `exec '${process.execPath}' '${programFile}'`)
    .replace('http://localhost:9001/hook', own.url);
  const env = { PATH: process.env.PATH, PARCELHOOK_PASSWORD: account.password, WEBHOOK_SECRET: secret };
  const listen = spawn('sh', ['-c', here], { env });
  try {
    await until('it listens', async () => {
      await placeOrder(account, 'FORWARDED');
      return own.received.length > 0;
    });
    const { body, headers } = own.received[0]!;
    new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    listen.kill();
    await once(listen, 'exit');
    await own.close();
  }
}

inBrowser(
  'the quick start, begun again, offers the webhook of the address instead of a second one',
  async () => {
    await page.goto('/webhooks');
    await button('Quick start').click();
    await stepIs('Now your own server');
    await button('Begin again with another').click();
    await stepIs('Create a webhook');
    await page.getByLabel('Address of your server').fill(receiver.url);
    await button('Use this webhook').click();
    await stepIs('Verify the signature'); // the webhook has accepted a notification
    await button('Send another').click();
    await button('Send test').click();
    await testOutcome().waitFor();
    await expectSound(page);
    const { webhooks } = (await account.call('/v1/webhooks')).data as { webhooks: { webhookId: string }[] };
    expect(webhooks).toHaveLength(1);

    // With a webhook that is gone there is nothing to go on with.
    await account.call(`/v1/webhooks/${webhooks[0]!.webhookId}`, { method: 'DELETE' });
    await page.reload();
    await stepIs('Create a webhook');
    expect(await doneSteps().count()).toBe(0);
  },
);

test('the recipe of each language is in the documentation', async () => {
  const documentation = await (await fetch(`${service.url}/docs/receiving`)).text();
  for (const language of languages) expect(documentation).toContain(`<h3 id="${recipeOf[language]}">`);
});
