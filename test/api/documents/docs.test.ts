import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { exampleId } from '../../../src/http/request/fields.js';
import type { OpenApiDocument } from '../../../src/http/openapi/types.js';
import { basic, registerAccount, request, type Account } from '../../support/client.js';
import { operatorToken, startService, type Service } from '../../support/harness.js';
import { operationsOf } from '../../support/openapi.js';

let service: Service;
let account: Account;
let document: OpenApiDocument;
const pages = new Map<string, { page: string; policy: string }>();
const paths = ['/docs', '/docs/operator'];

beforeAll(async () => {
  service = await startService({ role: 'api' });
  account = await registerAccount(service);
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
  for (const path of paths) {
    const response = await fetch(`${service.url}${path}`);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('etag')).toMatch(/^W\/"[\w-]+"$/);
    const policy = response.headers.get('content-security-policy')!;
    pages.set(path, { page: await response.text(), policy });
  }
});
afterAll(() => service?.stop());

const all = (page: string, pattern: RegExp) => [...page.matchAll(pattern)].map(([, found]) => found!);
const idsIn = (page: string) => all(page, /\sid="([^"]*)"/g);

describe.each(paths)('the page %s', (path) => {
  test('loads nothing: every link stays on the page or leads to a document or the portal', () => {
    const { page } = pages.get(path)!;
    const ids = idsIn(page);
    expect(new Set(ids).size).toBe(ids.length);
    const others = ['', 'openapi.json', 'asyncapi.json', 'docs', 'docs/operator', 'docs/runbook'];
    const allowed = [...ids.map((id) => `#${id}`), ...others.map((other) => `/${other}`)];
    const links = all(page, /\s(?:href|src|srcset|action|data)=["']?([^"'\s>]*)/g);
    const receiving = /^\/docs\/receiving(#the-kit)?$/;
    expect(links.filter((link) => !allowed.includes(link) && !receiving.test(link))).toEqual([]);
    expect(page).not.toMatch(/@import|url\(/i);
  });

  test('works under its own policy, which allows its own style and script and nothing else', () => {
    const { page, policy } = pages.get(path)!;
    const hashes = (['style', 'script'] as const).map((kind) => {
      const [own, ...others] = all(page, new RegExp(`<${kind}>([^]*?)</${kind}>`, 'g'));
      expect(others).toEqual([]);
      return `${kind}-src 'sha256-${createHash('sha256').update(own!).digest('base64')}'`;
    });
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      ...hashes,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(page).not.toMatch(/<script |<link|<img|<iframe|<[^>]*\s(on\w+|style)=/i);
  });
});

describe('the pages', () => {
  test('show every operation, notification, failure and schema of the document', () => {
    const ids = new Set([...pages.values()].flatMap(({ page }) => idsIn(page)));
    const notifications = Object.values(document.webhooks).map(({ post }) => post!.operationId);
    const { schemas, responses } = document.components;
    const shown = [
      ...operationsOf(document).keys(),
      ...notifications,
      ...Object.keys(responses),
      ...Object.keys(schemas).map((name) => `schema-${name}`),
    ];
    expect(shown.filter((id) => !ids.has(id))).toEqual([]);
  });
});

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const codeBlocks = (shown = [...pages.values()]) =>
  shown
    .flatMap(({ page }) => all(page, /<pre[^>]*><code>([^]*?)<\/code><\/pre>/g))
    .map((text) => text.replace(/&([^;]+);/g, (_, name: string) => entities[name]!));

/** `curl` is replaced by the given function. */
const shell = (curl: string, script: string, env: Record<string, string>) =>
  execFileSync('sh', ['-euc', `curl() { ${curl}; }\n${script}`], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });

function requestOf(command: string, env: Record<string, string>) {
  const [url, ...options] = shell(`printf '%s\\0' "$@"`, command, env).split('\0').slice(0, -1);
  const headers: Record<string, string> = {};
  let method: string | undefined;
  let raw: string | undefined;
  for (let at = 0; at < options.length; at += 2) {
    const [option, value] = [options[at]!, options[at + 1]!];
    if (option === '-X') method = value;
    else if (option === '-d') raw = value;
    else if (option === '-u') headers.authorization = `Basic ${Buffer.from(value).toString('base64')}`;
    else if (option === '-H') headers[value.split(': ')[0]!.toLowerCase()] = value.split(': ')[1]!;
    else throw new Error(`${option} in ${command}`);
  }
  return { url: url!, options: { headers, ...(method && { method }), ...(raw !== undefined && { raw }) } };
}

/** None of them exists. */
const exampleIdVariables = {
  TRACKING_ID: 'PH1M7YZMHG0R8EB1NC38',
  ...Object.fromEntries(
    ['WEBHOOK', 'DELIVERY', 'REPLAY', 'SHIPPER', 'USER'].map((name) => [`${name}_ID`, exampleId]),
  ),
};

describe('the example commands', () => {
  const env = () => ({
    URL: service.url,
    KEY: account.accountKey,
    EMAIL: account.email,
    PASSWORD: account.password,
    TOKEN: account.token,
    OPERATOR_TOKEN: operatorToken,
    ...exampleIdVariables,
  });

  test('for getting started leave a token', async () => {
    const login = await request(`${service.url}/v1/login?key=${account.accountKey}`, {
      headers: {
        authorization: basic(account.email, account.password),
      },
    });
    const preparation = codeBlocks().find((text) => text.startsWith('URL='))!;
    expect(preparation).toContain(`URL=${service.url}\n`);
    const script = `${preparation}\nprintf %s "$TOKEN"`;
    expect(shell(`printf %s "$ANSWER"`, script, { ANSWER: JSON.stringify(login.body) })).toBe(
      login.data.token,
    );
  });

  test.each(paths)(
    'on %s name no id that does not exist: it is a variable that the page explains',
    (path) => {
      const shown = pages.get(path)!;
      const addresses = codeBlocks([shown]).flatMap((text) => /^curl "[^"]*"/.exec(text) ?? []);
      const variables = new Set(addresses.flatMap((address) => all(address, /\$([A-Z]+_ID)/g)));
      expect(variables.size).toBeGreaterThan(3);
      const isExplained = (name: string) => shown.page.includes(`<code>${name}</code>`);
      expect([...variables].filter((name) => !isExplained(name))).toEqual([]);
      expect(addresses.filter((address) => /[\da-f]{8}-|\/PH\d/.test(address))).toEqual([]);
    },
  );

  test('are valid requests: one for each operation, with its credentials and a valid body', async () => {
    const commands = codeBlocks().filter((text) => text.startsWith('curl '));
    expect(commands.length).toBe(operationsOf(document).size);
    for (const command of commands) {
      const { url, options } = requestOf(command, env());
      const response = await request(url, options);
      // The ids and the user do not exist, and the replay range of the example becomes too old.
      const isLogin = url.endsWith('/v1/session') && options.raw !== undefined;
      const understood = url.includes('/replay?') ? [404, 400] : isLogin ? [401] : [200, 201, 202, 404];
      expect({ command, httpStatus: response.httpStatus, understood }).toMatchObject({
        understood: expect.arrayContaining([response.httpStatus]),
      });
    }
  });
});
