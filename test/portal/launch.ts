import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { chromiumProgram, whereIs } from '../programs/draw/browser.js';
import type { Account } from '../support/client.js';

export const desk = { width: 1_440, height: 900 };
export const phone = { width: 390, height: 800 };

/** One for all files of a jest worker, whose modules are evaluated anew: it ends with the worker. */
const shared = globalThis as { parcelhookBrowser?: Promise<Browser> };

function theBrowser(): Promise<Browser> {
  if (!chromiumProgram) throw new Error('no chromium on the PATH: apt-get install chromium');
  return (shared.parcelhookBrowser ??= chromium.launch({
    executablePath: whereIs(chromiumProgram),
    chromiumSandbox: false,
    timeout: 60_000,
    args: ['--disable-gpu', '--force-color-profile=srgb', '--disable-lcd-text'],
  }));
}

export const endBrowser = async (): Promise<void> => (await shared.parcelhookBrowser)?.close();

/** A profile of its own, without a page. */
export async function launch(baseURL: string): Promise<BrowserContext> {
  const context = await (
    await theBrowser()
  ).newContext({
    baseURL,
    viewport: desk,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(60_000);
  return context;
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
