import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { exampleId } from '../../../src/http/request/fields.js';
import type { OpenApiDocument, Operation } from '../../../src/http/openapi/schemas.js';
import { basic, registerAccount, request, type Account } from '../../support/client.js';
import { operatorToken } from '../../support/process.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { operationsOf } from '../../support/openapi.js';

let service: SharedService;
let account: Account;
let document: OpenApiDocument;
/** As the page has it. */
let shown: Shown;
let page: string;
let policy: string;

interface Shown extends OpenApiDocument {
  paths: Record<string, Record<string, Operation & { 'x-codeSamples': [{ source: string }] }>>;
}

beforeAll(async () => {
  service = await sharedService();
  account = await registerAccount(service);
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
  const response = await fetch(`${service.url}/docs`);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('etag')).toMatch(/^W\/"[\w-]+"$/);
  policy = response.headers.get('content-security-policy')!;
  page = await response.text();
  shown = JSON.parse(/<script type="application\/json" id="document">([^<]*)</.exec(page)![1]!) as Shown;
});

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!);

describe('the page /docs', () => {
  test('loads one script of this service and nothing else, at most 400 kB with the page itself', async () => {
    const [script, ...others] = all(page, /\ssrc=["']?([^"'\s>]*)/g);
    expect([script, others]).toEqual([expect.stringMatching(/^\/assets\/docs-\w+\.js$/), []]);
    const sizes = ['/docs', script!].map(async (path) => {
      const headers = { 'accept-encoding': 'gzip' };
      const response = await fetch(`${service.url}${path}`, { method: 'HEAD', headers });
      expect(response.headers.get('content-encoding')).toBe('gzip');
      return Number(response.headers.get('content-length'));
    });
    const [ofPage, ofScript] = (await Promise.all(sizes)) as [number, number];
    expect(ofPage).toBeGreaterThan(0);
    expect(ofScript).toBeGreaterThan(0);
    expect(ofPage + ofScript).toBeLessThan(400_000);
  });

  test('may run no inline script, load nothing, and call nothing', () => {
    const directives = Object.fromEntries(
      policy.split('; ').map((directive) => directive.split(/ (.*)/, 2) as [string, string]),
    );
    expect(directives).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'unsafe-inline'",
      'img-src': 'data:',
      'base-uri': "'none'",
      'form-action': "'self'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': 'lit-html',
    });
  });

  test('has every operation and notification of the document, and its components', () => {
    expect([...operationsOf(shown).keys()]).toEqual([...operationsOf(document).keys()]);
    expect(Object.keys(shown.webhooks)).toEqual(Object.keys(document.webhooks));
    expect(Object.keys(shown.components.schemas)).toEqual(Object.keys(document.components.schemas));
  });
});

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
    ['WEBHOOK', 'DELIVERY', 'REPLAY', 'TOKEN', 'SESSION', 'SHIPPER', 'USER'].map((name) => [
      `${name}_ID`,
      exampleId,
    ]),
  ),
};

const commands = () =>
  Object.values(shown.paths).flatMap((item) =>
    Object.values(item).map((operation) => operation['x-codeSamples'][0].source),
  );

describe('the example commands', () => {
  const env = () => ({
    URL: service.url,
    KEY: account.accountKey,
    EMAIL: account.email,
    PASSWORD: account.password,
    TOKEN: account.token,
    OPERATOR_TOKEN: operatorToken,
    NAME: 'orders-production',
    ...exampleIdVariables,
  });

  test('for getting started leave a token', async () => {
    const login = await request(`${service.url}/v1/login?key=${account.accountKey}`, {
      headers: {
        authorization: basic(account.email, account.password),
      },
    });
    const [preparation] = all(shown.info.description, /```sh\n([^`]*)\n```/g) as [string];
    expect(preparation).toContain(`URL=${service.url}\n`);
    const script = `${preparation}\nprintf %s "$TOKEN"`;
    expect(shell(`printf %s "$ANSWER"`, script, { ANSWER: JSON.stringify(login.body) })).toBe(
      login.data.token,
    );
  });

  test('name no id that does not exist: it is a variable that the page explains', () => {
    const addresses = commands().flatMap((text) => /^curl "[^"]*"/.exec(text) ?? []);
    const variables = new Set(addresses.flatMap((address) => all(address, /\$([A-Z]+_ID)/g)));
    expect(variables.size).toBeGreaterThan(3);
    const isExplained = (name: string) => shown.info.description.includes(`\`${name}\``);
    expect([...variables].filter((name) => !isExplained(name))).toEqual([]);
    expect(addresses.filter((address) => /[\da-f]{8}-|\/PH\d/.test(address))).toEqual([]);
  });

  test('are valid requests: one for each operation, with its credentials and a valid body', async () => {
    expect(commands().length).toBe(operationsOf(document).size);
    const endsToken = (command: string) => Number(command.includes('/v1/sessions?'));
    for (const command of commands().sort((a, b) => endsToken(a) - endsToken(b))) {
      const { url, options } = requestOf(command, env());
      const response = await request(url, options);
      // The ids and the user do not exist, the password is wrong, and the replay range of the example becomes too old.
      const isLogin = url.endsWith('/v1/session') && options.raw !== undefined;
      const isRefused = /\/(replay|password)\?/.test(url);
      const understood = isRefused ? [404, 400] : isLogin ? [401] : [200, 201, 202, 404];
      expect({ command, httpStatus: response.httpStatus, understood }).toMatchObject({
        understood: expect.arrayContaining([response.httpStatus]),
      });
    }
  });
});
