import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { OpenApiDocument } from '../../src/http/openapi/types.js';
import { startService, type Service } from '../support/harness.js';
import { operationsOf } from '../support/openapi.js';
import { untilFound } from '../support/deliveries.js';
import { expectSound, inBrowser, openBrowser, type Portal } from './browser.js';
import { phone } from './launch.js';

const paths = ['/docs', '/docs/receiving', '/docs/operator', '/docs/runbook'];

let service: Service;
let document: OpenApiDocument;
let portal: Portal | undefined;
let page: Page;

beforeAll(async () => {
  service = await startService({ role: 'api' });
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
}, 90_000);
afterAll(async () => {
  await portal?.close();
  await service?.stop();
});

const textOf = async (path: string) => (await fetch(`${service.url}${path}`)).text();

/**
 * Opens it in a page of its own: a change of the fragment alone would load nothing. On the first call the browser is
 * started.
 */
async function open(path: string, { script = true } = {}): Promise<void> {
  portal ??= await openBrowser(service);
  await page?.close();
  page = await portal.context.newPage();
  if (!script) {
    const session = await portal.context.newCDPSession(page);
    await session.send('Emulation.setScriptExecutionDisabled', { value: true });
  }
  await page.goto(path);
}

const operation = (id: string) => page.locator('details.entry', { has: page.locator(`[id="${id}"]`) });
const isOpen = async (id: string) => (await operation(id).getAttribute('open')) !== null;
const summaryOf = (id: string) => operationsOf(document).get(id)!.operation.summary;
const expectClosed = (id: string) => operation(id).locator(`[id="${id}"]`).waitFor({ state: 'hidden' });
const shownTitles = () => page.locator('details.entry:visible h3').allTextContents();

test.each(paths)('%s links to the others and to the portal', async (path) => {
  const text = await textOf(path);
  const links = [...text.matchAll(/\shref="([^"]*)"/g)].map(([, found]) => found!);
  expect(links).toEqual(expect.arrayContaining(['/', ...paths]));
});

test('the operations of the operator and the health are on /docs/operator only, those of shippers on /docs only', async () => {
  const [shippers, operator] = await Promise.all([textOf('/docs'), textOf('/docs/operator')]);
  const operations = [...operationsOf(document).values()].map(({ operation }) => operation);
  const wrong = operations.filter(({ operationId, tags: [tag] }) => {
    const isOfOperator = ['Operator', 'Health'].includes(tag);
    const isOn = (text: string) => text.includes(`id="${operationId}"`);
    return isOn(operator) !== isOfOperator || isOn(shippers) === isOfOperator;
  });
  expect(wrong.map(({ operationId }) => operationId)).toEqual([]);
  expect(shippers).not.toContain('/operator/v1/');
});

test('/docs has the states with what may follow them, and how to verify in five languages', async () => {
  const text = await textOf('/docs');
  const row = (state: string) =>
    new RegExp(`<th scope="row"><code>${state}</code></th>(.*?)</tr>`).exec(text)![1]!;
  expect(row('OUT_FOR_DELIVERY')).toContain('DELIVERY_FAILED');
  expect(row('DELIVERED')).toContain('none');
  for (const language of ['Python', 'Go', 'Java', 'Ruby', 'PHP'])
    expect(text).toMatch(new RegExp(`<summary>${language}</summary><pre><code>[^<]*[vV]erify`));
});

describe('in a browser', () => {
  inBrowser('/docs is less than 20,000 px tall on a desk', async () => {
    await open('/docs');
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(20_000);
    expect(await page.locator('details[open]').count()).toBe(0);
  });

  for (const path of paths)
    inBrowser(
      `${path} with all of it open is sound in light and dark, on a desk and on a phone`,
      async () => {
        await open(path);
        await page.evaluate(
          'for (const details of document.querySelectorAll("details")) details.open = true',
        );
        await expectSound(page);
        // Nothing is cut off: code wraps.
        await page.setViewportSize(phone);
        const cutOff = await page.evaluate(
          '[...document.querySelectorAll("pre")].filter((pre) => pre.scrollWidth > pre.clientWidth).length',
        );
        expect(cutOff).toBe(0);
      },
      240_000,
    );

  inBrowser('a link with a hash opens its operation, with the script and without', async () => {
    await open('/docs#createWebhook');
    await operation('createWebhook').getByText('Request', { exact: true }).waitFor();
    expect(await isOpen('listWebhooks')).toBe(false);

    await open('/docs#rotateSecret', { script: false });
    await operation('rotateSecret').getByText('Request', { exact: true }).waitFor();
    expect(await page.getByRole('searchbox').isVisible()).toBe(false);
    expect((await shownTitles()).length).toBeGreaterThan(40);
    await page.getByRole('link', { name: summaryOf('cancelReplay'), exact: true }).click();
    await operation('cancelReplay').getByText('Request', { exact: true }).waitFor();
  });

  inBrowser('by keyboard alone an operation is searched, opened and left', async () => {
    await open('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type(summaryOf('redeliver').toUpperCase());
    await operation('login').waitFor({ state: 'hidden' });
    expect(await shownTitles()).toContain(summaryOf('redeliver'));
    await page
      .getByRole('status')
      .getByText(/^[1-9]\d* found$/)
      .waitFor();
    await page.keyboard.press('Enter');
    await operation('redeliver').getByText('Request', { exact: true }).waitFor();
    expect(new URL(page.url()).hash).toBe('#redeliver');
    await page.locator('summary:focus', { hasText: summaryOf('redeliver') }).waitFor();
    await page.keyboard.press('Enter'); // closes it
    await expectClosed('redeliver');
    await page.keyboard.press('/');
    await page.keyboard.press('Escape');
    await operation('login').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
  });

  inBrowser(
    'the search finds paths, ids, fields and their descriptions, and says when it finds nothing',
    async () => {
      await open('/docs');
      const box = page.getByRole('searchbox', { name: 'Search' });
      for (const [query, title] of [
        ['/v1/shipment-tracking', summaryOf('trackShipment')],
        ['getEgress', summaryOf('getEgress')],
      ] as const) {
        await box.fill(query);
        await operation('login').waitFor({ state: 'hidden' });
        expect(await shownTitles()).toContain(title);
        await box.fill('');
        await operation('login').waitFor();
      }
      await box.fill('valueCurrency');
      await operation('login').waitFor({ state: 'hidden' });
      const { operationId } = document.paths['/v1/shipments']!.post!;
      expect(await operation(operationId).isVisible()).toBe(true);
      await box.fill('SUPERSEDED');
      await operation(operationId).waitFor({ state: 'hidden' });
      expect(await operation('schema-Delivery').isVisible()).toBe(true);
      await box.fill('nosuchthing');
      await page.getByRole('status').getByText('Nothing found').waitFor();
      expect(await shownTitles()).toEqual([]);
    },
  );

  inBrowser('the search finds what the sections say, and Enter leads there', async () => {
    await open('/docs');
    for (const [query, id] of [
      ['X-Request-Id', 'start'],
      ['warnings', 'start'],
      ['can be followed', 'states'],
      ['python', 'verify'],
    ] as const) {
      await page.getByRole('searchbox').fill(query);
      await operation('login').waitFor({ state: 'hidden' });
      expect(await page.locator(`#${id}`).isVisible()).toBe(true);
    }
    await page.getByRole('searchbox').fill('verify');
    await untilFound(() =>
      page.evaluate<boolean>('Math.abs(document.querySelector("#verify").getBoundingClientRect().top) < 200'),
    );
    await page.keyboard.press('Enter');
    await page.locator('h2:focus', { hasText: 'Verify' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#verify');
  });

  inBrowser('Enter opens what has the words in its name, before what only mentions them', async () => {
    await open('/docs');
    await page.getByRole('searchbox').fill('redeliver');
    await operation('login').waitFor({ state: 'hidden' });
    const titles = await shownTitles();
    expect(titles.indexOf(summaryOf('redeliver'))).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    await operation('redeliver').getByText('Request', { exact: true }).waitFor();
    expect(new URL(page.url()).hash).toBe('#redeliver');
  });

  inBrowser('Back to what the search has hidden shows it', async () => {
    await open('/docs#login');
    await page.getByRole('searchbox').fill('listWebhooks');
    await operation('login').waitFor({ state: 'hidden' });
    await page.keyboard.press('Enter');
    await operation('listWebhooks').getByText('Request', { exact: true }).waitFor();
    await page.goBack();
    await operation('login').getByText('Request', { exact: true }).waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
  });

  inBrowser('a link to what the search has hidden shows it', async () => {
    await open('/docs');
    await page.getByRole('searchbox').fill('listWebhooks');
    await operation('login').waitFor({ state: 'hidden' });
    await page.keyboard.press('Enter');
    await operation('listWebhooks').getByText('Failures').click();
    await operation('listWebhooks').getByRole('link', { name: '401' }).click();
    await operation('Unauthorized').getByText('WWW-Authenticate', { exact: true }).waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
  });
});
