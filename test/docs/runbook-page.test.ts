import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { startService, type Service } from '../support/harness.js';
import { blocks, runbook } from './runbook.js';

let service: Service;
let answer: Response;
let page: string;

beforeAll(async () => {
  service = await startService({ role: 'api' });
  answer = await fetch(`${service.url}/docs/runbook`);
  page = await answer.text();
});
afterAll(() => service?.stop());

const all = (pattern: RegExp, text = page) => [...text.matchAll(pattern)].map(([, found]) => found!);
const ids = () => all(/\sid="([^"]*)"/g);

test('every alert leads to its section of the page', () => {
  const rules = readFileSync('grafana/prometheus/rules.yml', 'utf8');
  const alerts = [...new Set(all(/^ +- alert: (\w+)$/gm, rules))];
  expect(alerts.length).toBeGreaterThan(10);
  expect(ids()).toEqual(expect.arrayContaining(alerts.map((alert) => alert.toLowerCase())));
  for (const url of all(/^ +runbook_url: http:\/\/localhost:8080(\S+)$/gm, rules)) {
    const [path, anchor] = url.split('#');
    expect([path, ids()]).toEqual(['/docs/runbook', expect.arrayContaining([anchor])]);
  }
});

test('the page is for everybody, and has all that docs/runbook.md has', () => {
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer.headers.get('etag')).toMatch(/^W\/"[\w-]+"$/);
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>' };
  const shown = all(/<pre[^>]*><code>([^]*?)<\/code><\/pre>/g).map((text) =>
    text.replace(/&([^;]+);/g, (_, name: string) => entities[name]!),
  );
  expect(shown).toEqual(blocks.map(({ code }) => code.trimEnd()));
  const headings = all(/<h[1-3][^>]*>(?:<a[^>]*>)?([^<]+)/g);
  expect(headings).toEqual(all(/^#{1,3} (.+)$/gm, runbook));
});

test('the page loads nothing, and its policy allows its own style and nothing else', () => {
  const links = all(/\s(?:href|src|srcset|action|data)=["']?([^"'\s>]*)/g);
  expect(links.filter((link) => !ids().includes(link.replace(/^#/, '')))).toEqual([]);
  expect(new Set(ids()).size).toBe(ids().length);
  expect(page).not.toMatch(/<script|<link|<img|<iframe|<[^>]*\s(on\w+|style)=|@import|url\(/i);
  const hash = createHash('sha256')
    .update(all(/<style>([^]*?)<\/style>/g)[0]!)
    .digest('base64');
  expect(answer.headers.get('content-security-policy')!.split('; ')).toEqual([
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});
