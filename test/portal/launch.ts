import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { chromiumProgram, whereIs } from '../programs/draw/browser.js';
import type { Account } from '../support/client.js';

export const desk = { width: 1_440, height: 900 };
export const phone = { width: 390, height: 800 };

/** A browser with a profile of its own, at an empty page. */
export async function launch(baseURL: string): Promise<{ context: BrowserContext; close(): Promise<void> }> {
  if (!chromiumProgram) throw new Error('no chromium on the PATH: apt-get install chromium');
  const home = mkdtempSync(join(tmpdir(), 'parcelhook-portal-'));
  const context = await chromium.launchPersistentContext(home, {
    executablePath: whereIs(chromiumProgram),
    chromiumSandbox: false,
    timeout: 60_000,
    baseURL,
    viewport: desk,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
    args: ['--disable-gpu', '--force-color-profile=srgb', '--disable-lcd-text'],
  });
  context.setDefaultTimeout(30_000);
  const close = async () => {
    await context.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  return { context, close };
}

/** Fills in the form as a person would. */
export async function logIn(
  page: Page,
  { accountKey, email, password }: Pick<Account, 'accountKey' | 'email' | 'password'>,
): Promise<void> {
  await page.getByLabel('Account key').fill(accountKey);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
}

/** The navigation: there only for who is logged in. */
export const placesOf = (page: Page) => page.getByRole('navigation', { name: 'Places' });
