import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { chromiumProgram } from '../programs/draw/browser.js';
import type { Hook } from '../support/deliveries.js';
import { registerAccount, type Account } from '../support/client.js';
import { startServiceWith } from '../support/harness.js';
import { sharedService, type SharedService } from '../support/shared-service.js';
import { desk, launch, logIn, phone, placesOf } from './launch.js';

if (!chromiumProgram) console.warn('LEFT OUT: tests in a browser, as there is no chromium on the PATH');
/** A test that is left out where there is no browser. */
export const inBrowser = chromiumProgram ? test : test.skip;

export interface Portal {
  context: BrowserContext;
  page: Page;
  /**
   * Faults since the last test: errors and warnings in the console (violations of the policy are some),
   * exceptions, dialogs (a planted script ran), requests elsewhere. No page may do these.
   */
  wrong: string[];
  /** Allows these in the current test alone, which brings this about itself, such as the console's line for a 401. */
  allow(...patterns: RegExp[]): void;
  close(): Promise<void>;
}

let openPortals: (Portal & { unexpected: () => string[] })[] = [];

afterEach(() => {
  for (const { unexpected } of openPortals) expect(unexpected()).toEqual([]);
});

/** A browser with a profile of its own, at an empty page. After each test it is checked that nothing was wrong. */
export async function openBrowser(service: { url: string }): Promise<Portal> {
  const context = await launch(service.url);
  const wrong: string[] = [];
  let allowed: RegExp[] = [];
  const note = (what: string) => void wrong.push(what);
  context.on('weberror', (error) => note(`exception: ${error.error().message}`));
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) note(`${message.type()}: ${message.text()}`);
  });
  context.on('dialog', (dialog) => {
    note(`a planted script ran: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (request) => {
    if (!request.url().startsWith(`${service.url}/`)) note(`request elsewhere: ${request.url()}`);
  });
  const portal = {
    context,
    page: await context.newPage(),
    wrong,
    allow: (...patterns: RegExp[]) => void allowed.push(...patterns),
    unexpected: () => {
      const unexpected = wrong.filter((what) => !allowed.some((pattern) => pattern.test(what)));
      wrong.length = 0;
      allowed = [];
      return unexpected;
    },
    close: async () => {
      openPortals = openPortals.filter((open) => open !== portal);
      await context.close();
    },
  };
  openPortals.push(portal);
  return portal;
}

/** A browser in which the account's user is logged in. */
async function openPortal(service: { url: string }, account: Account): Promise<Portal> {
  const portal = await openBrowser(service);
  await portal.page.goto('/webhooks');
  await logIn(portal.page, account);
  await placesOf(portal.page).waitFor();
  return portal;
}

export interface Stage {
  /** Which tests share, unless the file gives settings. */
  service: Pick<SharedService, 'url' | 'sql'>;
  account: Account;
  portal: Portal;
  page: Page;
  /** Runs after the file's tests, the last first. */
  onEnd(end: () => unknown): void;
}

/** Gives the tests of a file a service, an account, and a browser in which its user is logged in. */
export function withPortal(
  prepare: (stage: Stage) => unknown,
  { settings, isLoggedIn = true }: { settings?: Record<string, string>; isLoggedIn?: boolean } = {},
): void {
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    const own = settings && (await startServiceWith(settings));
    if (own) ends.push(own.stop);
    const service = own ?? (await sharedService());
    const account = await registerAccount(service);
    const portal = isLoggedIn ? await openPortal(service, account) : await openBrowser(service);
    ends.push(portal.close);
    const { page } = portal;
    await prepare({ service, account, portal, page, onEnd: (end) => void ends.push(end) });
  }, 120_000);
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
}

/** Deletes the webhook; its page, which reads it again and again, is left before. */
export async function leave(page: Page, hook: Hook): Promise<void> {
  await page.goto('/shipments');
  await hook.close();
}

/** The dark changes colours alone, which are the same on a desk and on a phone. */
const looks = [
  { size: desk, colorScheme: 'light' },
  { size: phone, colorScheme: 'dark' },
] as const;

/** A new width changes headings, too: when the browser tells the page, and the page has drawn itself anew. */
const untilDrawn = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))';

/** Nothing that axe finds, in light and dark, on a desk and on a phone; nothing wider than the window. */
export async function expectSound(page: Page): Promise<void> {
  for (const { size, colorScheme } of looks) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await expectSoundAsIs(page);
  }
  await page.setViewportSize(desk);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Checks the same in the page's present look only, so that open menus and dialogs stay open. */
export async function expectSoundAsIs(page: Page): Promise<void> {
  await page.evaluate(untilDrawn);
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source); // by the debugger: no policy forbids it
  const found = await page.evaluate<[rule: string, elements: string[]][]>(
    `axe.run({ resultTypes: ['violations'], preload: false }).then(({ violations }) =>
       violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
  );
  const [look, tooWidePx] = await page.evaluate<[string, number]>(
    `[innerWidth + ' px, ' + (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'),
      Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)]`,
  );
  expect({ look, found, tooWidePx }).toEqual({ look, found: [], tooWidePx: 0 });
}
