import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { OpenApiDocument } from '../../src/http/openapi/schemas.js';
import { operationsOf } from '../support/openapi.js';
import { sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { expectSound, inBrowser, openBrowser, type Portal } from './browser.js';
import { phone } from './launch.js';

const paths = ['/docs', '/docs/api', '/docs/receiving', '/docs/runbook'];

let service: { url: string };
let document: OpenApiDocument;
let portal: Portal | undefined;
let page: Page;

beforeAll(async () => {
  service = await sharedService();
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
});
afterAll(() => portal?.close());

const textOf = async (path: string) => (await fetch(`${service.url}${path}`)).text();
const summaryOf = (id: string) => operationsOf(document).get(id)!.operation.summary;

/** In a page of its own: a change of the fragment alone would load nothing. On the first call the browser is started. */
async function open(path: string): Promise<void> {
  portal ??= await openBrowser(service);
  await page?.close();
  page = await portal.context.newPage();
  await page.goto(path);
}

test.each([...paths, '/docs/search'])('%s links to the others and to the portal', async (path) => {
  const links = [...(await textOf(path)).matchAll(/\shref="([^"]*)"/g)].map(([, found]) => found!);
  expect(links).toEqual(expect.arrayContaining(['/', ...paths]));
});

describe('the search', () => {
  test.each([
    ['operation that has a field', 'valueCurrency', '/docs#post-/v1/shipments'],
    ['path of an operation', '/v1/shipment-tracking', '/docs#get-/v1/shipment-tracking/-trackingId-'],
    ['id of an operation', 'GETEGRESS', '/docs#get-/v1/egress'],
    ['a notification', 'has recovered', '/docs#post-webhookNotice'],
    ['section of the guide', 'idempotency key', '/docs/api#placing-orders'],
    ['section on receiving', 'verify signature', '/docs/receiving#verify'],
    ['section of the runbook', 'ParcelhookRoleGone', '/docs/runbook#parcelhookrolegone'],
  ])('finds the %s', async (_, query, address) => {
    const results = await textOf(`/docs/search?q=${encodeURIComponent(query)}`);
    expect(results).toContain(`<a href="${address}">`);
  });

  test('says when it finds nothing, and shows what was typed as text', async () => {
    const results = await textOf(`/docs/search?q=${encodeURIComponent('<b>"nosuchthing')}`);
    expect(results).toContain('Nothing found');
    expect(results).toContain('value="&lt;b&gt;&quot;nosuchthing"');
    expect(results).not.toContain('<b>');
  });

  test('leads to what is there', async () => {
    const results = await textOf('/docs/search?q=secret');
    const links = [...results.matchAll(/<a href="(\/docs\/\w+)#([^"]+)"/g)];
    expect(links.length).toBeGreaterThan(1);
    for (const [, path, id] of links) expect(await textOf(path!)).toContain(`id="${id}"`);
  });
});

/** On a busy machine RapiDoc takes many seconds for each load of /docs. */
const longestMs = 240_000;

describe('in a browser', () => {
  for (const path of ['/docs/api', '/docs/receiving', '/docs/runbook', '/docs/search?q=signature'])
    inBrowser(
      `${path} is sound in light and dark, on a desk and on a phone`,
      async () => {
        await open(path);
        await expectSound(page);
        // Nothing is cut off: code wraps.
        await page.setViewportSize(phone);
        const cutOff = await page.evaluate(
          '[...document.querySelectorAll("pre")].filter((pre) => pre.scrollWidth > pre.clientWidth).length',
        );
        expect(cutOff).toBe(0);
      },
      longestMs,
    );

  inBrowser(
    '/docs shows an operation with its command, and every notification with its headers',
    async () => {
      await open('/docs#post-/v1/webhooks');
      await page.getByRole('heading', { name: summaryOf('createWebhook') }).waitFor();
      await page.getByText('curl "$URL/v1/webhooks?key=$KEY"').first().waitFor();
      for (const [name, { post }] of Object.entries(document.webhooks)) {
        await page.evaluate(`location.hash = 'post-${name}'`);
        await page.getByRole('heading', { name: post!.summary }).waitFor();
        await page.locator('.param-name', { hasText: 'webhook-signature' }).waitFor();
      }
    },
    longestMs,
  );

  inBrowser(
    'on a phone /docs lists all operations, and nothing is wider than the window',
    async () => {
      await open('/docs');
      await page.setViewportSize(phone);
      await page.getByText(summaryOf('listWebhooks')).first().waitFor();
      await until(
        'nothing is wider than the window',
        async () => (await page.evaluate('document.documentElement.scrollWidth')) === phone.width,
      );
    },
    longestMs,
  );

  inBrowser(
    '/docs is dark where the reader wants it',
    async () => {
      await open('/docs');
      const viewer = page.locator('rapi-doc');
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.locator(`rapi-doc[theme=${colorScheme}]`).waitFor();
        const palette = await page.evaluate(
          'getComputedStyle(document.documentElement).getPropertyValue("--page")',
        );
        expect(await viewer.getAttribute('bg-color')).toBe(palette);
      }
    },
    longestMs,
  );

  inBrowser(
    'by keyboard alone an operation is searched and opened',
    async () => {
      await open('/docs/api');
      await page.getByRole('searchbox').focus();
      await page.keyboard.type(summaryOf('redeliver').toUpperCase());
      await page.keyboard.press('Enter');
      await page.getByRole('status').getByText('found').waitFor();
      await page.getByRole('link', { name: summaryOf('redeliver'), exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: summaryOf('redeliver') }).waitFor();
    },
    longestMs,
  );
});
