import { beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sharedService } from '../support/shared-service.js';
import { blocksOf } from './runbook.js';

const pages = new Map<string, { answer: Response; page: string }>();

beforeAll(async () => {
  const service = await sharedService();
  for (const name of ['api', 'receiving', 'runbook']) {
    const answer = await fetch(`${service.url}/docs/${name}`);
    pages.set(name, { answer, page: await answer.text() });
  }
});

const all = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([, found]) => found!);
const idsIn = (page: string) => all(/\sid="([^"]*)"/g, page);

test('every alert leads to its section of the page', () => {
  const rules = readFileSync('grafana/prometheus/rules.yml', 'utf8');
  const alerts = [...new Set(all(/^ +- alert: (\w+)$/gm, rules))];
  expect(alerts.length).toBeGreaterThan(10);
  const ids = idsIn(pages.get('runbook')!.page);
  expect(ids).toEqual(expect.arrayContaining(alerts.map((alert) => alert.toLowerCase())));
  for (const url of all(/^ +runbook_url: http:\/\/localhost:8080(\S+)$/gm, rules)) {
    const [path, anchor] = url.split('#');
    expect([path, ids]).toEqual(['/docs/runbook', expect.arrayContaining([anchor])]);
  }
});

describe.each(['api', 'receiving', 'runbook'])('/docs/%s', (name) => {
  test('is for everybody, and has all that its Markdown has', () => {
    const { answer, page } = pages.get(name)!;
    const markdown = readFileSync(`docs/${name}.md`, 'utf8');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('etag')).toMatch(/^W\/"[\w-]+"$/);
    const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>' };
    const shown = all(/<pre[^>]*><code>([^]*?)<\/code><\/pre>/g, page).map((text) =>
      text.replace(/&([^;]+);/g, (_, name: string) => entities[name]!),
    );
    expect(shown).toEqual(blocksOf(markdown).map(({ code }) => code.trimEnd()));
    const headings = all(/<h[1-3][^>]*>(?:<a[^>]*>)?([^<]+)/g, page);
    expect(headings).toEqual(all(/^#{1,3} (.+)$/gm, markdown.replace(/^```[^]*?^```$/gm, '')));
  });

  test('loads nothing, leads to pages that are there, and its policy allows its own style and nothing else', () => {
    const { answer, page } = pages.get(name)!;
    const links = all(/\s(?:href|src|srcset|action|data)=["']?([^"'\s>]*)/g, page);
    const tested = ['/', '/docs', '/docs/search', '/doctor']; // they have tests of their own
    const isThere = (link: string) => {
      if (tested.includes(link)) return true;
      const [path, anchor] = link.split('#') as [string, string?];
      const target = pages.get(path === '' ? name : path.replace('/docs/', ''))?.page;
      return target !== undefined && (anchor === undefined || idsIn(target).includes(anchor));
    };
    expect(links.filter((link) => !isThere(link))).toEqual([]);
    expect(new Set(idsIn(page)).size).toBe(idsIn(page).length);
    expect(page).not.toMatch(/<script|<link|<img|<iframe|<[^>]*\s(on\w+|style)=|@import|url\(/i);
    const hash = createHash('sha256')
      .update(all(/<style>([^]*?)<\/style>/g, page)[0]!)
      .digest('base64');
    expect(answer.headers.get('content-security-policy')!.split('; ')).toEqual([
      "default-src 'none'",
      `style-src 'sha256-${hash}'`,
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
  });
});

test('on receiving, the commands lead to the log-in, the signature doctor to the portal', () => {
  const links = all(/href="([^"]*)"/g, pages.get('receiving')!.page);
  expect(links).toEqual(expect.arrayContaining(['/docs/api#logging-in', '/doctor']));
});
