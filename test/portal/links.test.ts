import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { operator, type Account } from '../support/client.js';
import type { SharedService } from '../support/shared-service.js';
import { expectSound, inBrowser, withPortal, type Portal } from './browser.js';
import { logIn, placesOf } from './launch.js';

let service: Pick<SharedService, 'url' | 'sql'>;
let account: Account;
let portal: Portal;
let page: Page;

withPortal(
  (stage) => {
    ({ service, account, portal, page } = stage);
  },
  { isLoggedIn: false },
);

const newLink = async (path: string, field: string) => {
  const { data } = await operator(service, path, { method: 'POST' });
  return data[field] as string;
};
const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

/** The page is shown as it should be: with its mark and its style, from our own files alone. */
async function expectFrame(): Promise<void> {
  await expectSound(page);
  const isLoaded = page.locator('.mark img').evaluate((image) => (image as never as Image).naturalWidth > 0);
  expect(await isLoaded).toBe(true);
  const { headers } = await fetch(page.url());
  const policy = headers.get('content-security-policy')!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
}
interface Image {
  naturalWidth: number;
}

inBrowser('a link to set a password leads to the log-in, which takes the new password', async () => {
  const url = await newLink(`/users/${account.userId}/password-link`, 'setPasswordUrl');
  await page.goto(url);
  await heading('Set your password');
  await page.getByText(`For the user ${account.email}`).waitFor();
  await expectFrame();
  await page.locator('form').evaluate((form) => form.setAttribute('novalidate', ''));
  await page.getByLabel('New password').fill('too short');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('The password must have at least 12 characters.').waitFor();
  await expectSound(page);
  const password = 'correct horse battery staple';
  await page.getByLabel('New password').fill(password);
  await page.getByRole('button', { name: 'Set password' }).click();
  await heading('Password set');
  await expectFrame();
  await page.getByRole('link', { name: 'Log in' }).click();
  await heading('Log in to Parcelhook');
  await expectFrame();
  await logIn(page, { ...account, password });
  await placesOf(page).waitFor();
  await page.goto(url);
  await heading('Link not valid');
  await expectFrame();
  portal.allow(/status of 40[04]/);
});

inBrowser('a link in a mail leads to a button that confirms the address', async () => {
  const token = 'c'.repeat(43);
  await service.sql(
    `insert into notify_addresses (shipper_id, email, token_hash, expires_at)
     values ($1, 'asked@example.com', sha256($2::text::bytea), now() + interval '1 hour')`,
    [account.shipperId, token],
  );
  await page.goto(`/confirm-address?token=${token}`);
  await page.getByText('messages about its webhooks sent to asked@example.com').waitFor();
  await expectFrame();
  await page.getByRole('button', { name: 'Confirm the address' }).click();
  await heading('Address confirmed');
  await expectSound(page);
});

inBrowser('a link for support opens the portal, read-only', async () => {
  await page.goto(await newLink(`/shippers/${account.shipperId}/portal-link`, 'url'));
  await heading('Open a portal');
  await expectFrame();
  await page.getByRole('button', { name: 'Open the portal' }).click();
  await page.getByText('Read-only, for support.').waitFor();
});
