import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import type { Account } from '../support/client.js';
import { chromiumProgram, whereIs } from '../draw/browser.js';

export type Scheme = 'light' | 'dark';

export interface OpenPage {
  page: Page;
  /** What no page may do: errors in the console, exceptions, violations of the policy, requests elsewhere. */
  wrong: string[];
}

export interface Portal {
  open(path: string, options?: { width?: number; scheme?: Scheme }): Promise<OpenPage>;
  context: BrowserContext;
  close(): Promise<void>;
}

const widthOfDesk = 1_440;
const timeoutMs = 30_000;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A real browser with a profile of its own. */
export async function openPortal(url: () => string): Promise<Portal> {
  if (!chromiumProgram) throw new Error('no chromium on PATH: apt-get install chromium');
  const home = mkdtempSync(join(tmpdir(), 'parcelhook-portal-'));
  const context = await chromium.launchPersistentContext(home, {
    executablePath: whereIs(chromiumProgram),
    chromiumSandbox: false,
    timeout: timeoutMs,
    viewport: { width: widthOfDesk, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
    args: ['--disable-gpu'],
  });
  context.setDefaultTimeout(timeoutMs);
  await context.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { violations: seen });
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      seen.push(`${violatedDirective} ${blockedURI}`),
    );
  });
  return {
    context,
    open: async (path, { width = widthOfDesk, scheme = 'light' } = {}) => {
      const page = await context.newPage();
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      const wrong: string[] = [];
      page.on('pageerror', ({ message }) => wrong.push(`exception: ${message}`));
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning')
          wrong.push(`console: ${message.text()} ${message.location().url}`);
      });
      page.on('request', (request) => {
        if (!request.url().startsWith(`${url()}/`)) wrong.push(`elsewhere: ${request.url()}`);
      });
      await page.goto(`${url()}${path}`);
      return { page, wrong };
    },
    close: async () => {
      await context.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** What the policy has refused on a page. */
export const violationsOn = (page: Page): Promise<string[]> =>
  page.evaluate(() => (globalThis as unknown as { violations: string[] }).violations);

/** By rule and element; none is what a test wants. The tool is evaluated by the debugger, which no policy forbids. */
export async function findingsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await axe.run()).violations;
  });
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/** How many pixels the page is wider than its window. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Fills in the form as a person would. */
export async function logIn(page: Page, { accountKey, email }: Account, password: string): Promise<void> {
  await page.getByLabel('Account key').fill(accountKey);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}
