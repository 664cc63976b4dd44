import { expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { chromiumProgram, whereIs } from '../draw/browser.js';
import type { Account } from './client.js';

if (!chromiumProgram) console.warn('LEFT OUT: tests in a browser, as there is no chromium on the PATH');
/** A test that is left out where there is no browser. */
export const inBrowser = chromiumProgram ? test : test.skip;

export interface Portal {
  context: BrowserContext;
  page: Page;
  /** Errors of the console, of scripts and of the content security policy, since it was last emptied. */
  wrong: string[];
  close(): Promise<void>;
}

/** A browser in which the account's user is logged in. */
export async function openPortal(service: { url: string }, account: Account): Promise<Portal> {
  const home = mkdtempSync(join(tmpdir(), 'parcelhook-portal-'));
  const context = await chromium.launchPersistentContext(home, {
    executablePath: whereIs(chromiumProgram!),
    chromiumSandbox: false,
    timeout: 60_000,
    baseURL: service.url,
    viewport: { width: 1440, height: 900 },
    args: ['--disable-gpu'],
  });
  context.setDefaultTimeout(30_000);
  const wrong: string[] = [];
  context.on('weberror', (error) => wrong.push(error.error().message));
  context.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  context.on('dialog', (dialog) => {
    wrong.push(`a planted script ran: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const page = await context.newPage();
  await page.goto('/deliveries');
  await page.getByLabel('Account key').fill(account.accountKey);
  await page.getByLabel('E-mail').fill(account.email);
  await page.getByLabel('Password').fill(account.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Places' }).waitFor();
  const close = async () => {
    await context.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  return { context, page, wrong, close };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Nothing that axe finds in light and dark, on a desk and on a phone; nothing wider than the phone. */
export async function expectSound(page: Page): Promise<void> {
  const desk = page.viewportSize()!;
  await page.evaluate(axe);
  for (const size of [desk, { width: 390, height: 800 }]) {
    await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
        'axe.run()',
      );
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(size.width);
  }
  await page.setViewportSize(desk);
}
