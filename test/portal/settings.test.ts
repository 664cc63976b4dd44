/** The portal has some of its parts only with certain settings. */
import { afterAll, beforeAll, expect } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operator, registerAccount, registerWebhook, type Account } from '../support/client.js';
import { startServiceWith, type Service } from '../support/harness.js';
import { startMailServer, type MailServer } from '../support/mail/server.js';
import { sharedService } from '../support/shared-service.js';
import { expectSound, inBrowser, openBrowser, type Portal } from './browser.js';
import { good } from '../unit/engine/send/certificates.js';
import { logIn, placesOf } from './launch.js';

let mails: MailServer;
let folder: string;
let service: Service;
let account: Account;
let portal: Portal;

beforeAll(async () => {
  mails = await startMailServer();
  folder = mkdtempSync(join(tmpdir(), 'parcelhook-portal-'));
  const fileOf = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  service = await startServiceWith({
    SMTP_URL: mails.url,
    MAIL_FROM: 'parcelhook@mail.example',
    EGRESS_ADDRESSES: '203.0.113.0/24,2001:db8::5',
    CLIENT_CERT_FILE: fileOf('cert.pem', good.cert),
    CLIENT_KEY_FILE: fileOf('key.pem', good.key),
  });
  account = await registerAccount(service);
  await registerWebhook(account, 'http://127.0.0.1:9/');
  portal = await openBrowser(service);
}, 120_000);
afterAll(async () => {
  await portal?.close();
  await service?.stop();
  await mails?.close();
  rmSync(folder, { recursive: true });
});

inBrowser('a forgotten password leads from the log-in by a mail to a new one', async () => {
  const { page } = portal;
  await mails.waitFor(1, account.email); // the first link, of the registration
  await page.goto('/');
  await page.getByRole('button', { name: 'Forgotten your password?' }).click();
  await page.getByRole('heading', { name: 'Set a new password' }).waitFor();
  await expectSound(page);
  await page.getByLabel('Account key').fill(account.accountKey);
  await page.getByLabel('E-mail').fill(account.email);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('a link is on its way').waitFor();
  await expectSound(page);
  const [, mail] = await mails.waitFor(2, account.email);
  await page.goto(mail!.link);
  await page.locator('input[type=password]').fill('a new long password');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Log in' }).click();
  await logIn(page, { ...account, password: 'a new long password' });
  await placesOf(page).waitFor();
});

inBrowser('the form of a webhook shows where notifications come from, and the certificate', async () => {
  const { page } = portal;
  await page.goto('/webhooks');
  await page.getByRole('button', { name: 'New webhook' }).click();
  const copy = page.getByRole('button', { name: 'Copy the addresses that notifications come from' });
  await copy.click();
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(
    '203.0.113.0/24\n2001:db8::5/128',
  );
  await page.getByText(/is shown this one, which ends .*2125/).waitFor();
  await page.getByRole('button', { name: "Copy the client certificate's subject and fingerprint" }).click();
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(
    `CN=good\nSHA-256 ${new X509Certificate(good.cert).fingerprint256}`,
  );
  await expectSound(page);
});

inBrowser(
  'the operator opens a portal by a link, sees that it is read-only, and can change nothing',
  async () => {
    const link = await operator(service, `/shippers/${account.shipperId}/portal-link`, { method: 'POST' });
    const support = await openBrowser(service);
    const { page } = support;
    await page.goto(link.data.url as string);
    await expectSound(page);
    await page.getByRole('button', { name: 'Open the portal' }).click();
    const bar = page.getByText(
      /^Read-only, for support\. You see the portal of Shipper as its users do, until .*\d/,
    );
    await bar.waitFor();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    expect(await page.getByRole('button', { name: 'New webhook' }).count()).toBe(0);
    await expectSound(page);
    await page.getByRole('button', { name: /^Send test to / }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send test' }).click();
    await page.getByRole('dialog').getByText('It is read-only').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('rowheader').getByRole('link').first().click();
    await page.getByText('Never rotated').waitFor();
    expect(await page.getByRole('button', { name: 'Rotate…' }).count()).toBe(0);
    for (const place of ['Deliveries', 'Tokens']) {
      await placesOf(page).getByRole('link', { name: place }).click();
      await page.getByRole('heading', { level: 1, name: place }).waitFor();
      await bar.waitFor();
    }
    expect(await page.getByRole('button', { name: 'New token' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Shipper' }).click();
    await page.getByText('opened by the operator').waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in to Parcelhook' }).waitFor();
    support.allow(/status of 403/);
    await support.close();

    await portal.page.goto('/webhooks');
    await portal.page.getByRole('button', { name: 'Shipper' }).click();
    await portal.page.getByText('The operator last opened this portal, read-only,').waitFor();
    await expectSound(portal.page);
  },
);

inBrowser('where no e-mails are sent, the log-in offers none', async () => {
  const other = await openBrowser(await sharedService());
  await other.page.goto('/');
  await other.page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
  expect(await other.page.getByText('Forgotten').count()).toBe(0);
  await other.close();
});
