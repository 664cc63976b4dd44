import { describe, expect, test } from '@jest/globals';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { sendRaw } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';

const service = await sharedService();
const page = (path: string, options: RequestInit = {}) =>
  fetch(`${service.url}${path}`, {
    ...options,
    headers: { accept: 'text/html,*/*;q=0.8', 'sec-fetch-site': 'none', ...options.headers },
  });

const index = await page('/');
const assets = [...(await index.text()).matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(
  ([, found]) => found!,
);

interface Plain {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** Reads it without a client that decompresses. */
const get = (path: string, headers: Record<string, string> = {}, url = service.url): Promise<Plain> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = httpRequest({ hostname, port, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject).end();
  });

describe('the page', () => {
  test('allows its own script and style and nothing else, and is never cached', () => {
    expect(index.status).toBe(200);
    expect(index.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(index.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(index.headers.get('cache-control')).toBe('no-store');
    for (const [name, value] of [
      ['x-content-type-options', 'nosniff'],
      ['cross-origin-opener-policy', 'same-origin'],
      ['cross-origin-resource-policy', 'same-origin'],
      ['referrer-policy', 'no-referrer'],
    ] as const)
      expect([name, index.headers.get(name)]).toEqual([name, value]);
  });

  test('works under its own policy: no inline script, style or handler, nothing from elsewhere', async () => {
    const text = await (await page('/')).text();
    expect(text).not.toMatch(/<style|<[^>]*\s(on\w+|style)=|https?:/i);
    expect(text.match(/<script/g)).toHaveLength(1);
    expect(text).not.toContain('{{');
    const kinds = new Set(assets.map((asset) => asset.split('.').at(-1)!));
    expect([...kinds]).toEqual(expect.arrayContaining(['css', 'js']));
  });

  test('says that there is no inbox, and no link to fill in the log-in, where there is none', async () => {
    const text = await (await page('/')).text();
    expect(text).toContain('<meta name="parcelhook-inbox" content="off" />');
    expect(text).toContain('<meta name="parcelhook-greeting" content="off" />');
  });

  test('is the same at every place and at what each holds', async () => {
    const same = await (await page('/')).text();
    for (const place of ['webhooks', 'deliveries', 'shipments', 'doctor', 'recover', 'account', 'inbox'])
      for (const path of [`/${place}`, `/${place}/`, `/${place}/an-id`, `/${place}?status=FAILED`]) {
        const response = await page(path);
        expect([path, response.status]).toEqual([path, 200]);
        expect(await response.text()).toBe(same);
      }
  });

  test('at an address that is none, a browser gets it with 404, and a program JSON', async () => {
    const same = await (await page('/')).text();
    for (const path of ['/webhook', '/webhooks/a/b', '/Webhooks', '/index.html', '/docs/other']) {
      const response = await page(path);
      expect([path, response.status, await response.text()]).toEqual([path, 404, same]);
      for (const name of ['content-security-policy', 'cache-control', 'referrer-policy'])
        expect([name, response.headers.get(name)]).toEqual([name, index.headers.get(name)]);
      const { headers } = await get(path, { accept: '*/*' });
      expect([path, headers['content-type']]).toEqual([path, 'application/json; charset=utf-8']);
    }
    for (const path of ['/v1', '/v1/webhook', '/operator/v1/nothing'])
      expect((await page(path)).headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect((await page('/webhook', { method: 'POST' })).headers.get('content-type')).toMatch(
      'application/json',
    );
    const { status } = await get('/webhook', { accept: 'text/html', host: 'parcels.example.com' });
    expect(status).toBe(404);
  });

  test('/ is served to anyone who does not ask for something else', async () => {
    for (const headers of [{}, { accept: '*/*' }]) {
      const { status, headers: given } = await get('/', headers);
      expect([status, given['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    }
  });

  test('a program that asks for JSON, or leaves out /v1, gets JSON that says that there is nothing', async () => {
    for (const [path, headers] of [
      ['/', { accept: 'application/json' }],
      ['/', { accept: 'application/json, */*;q=0.5' }],
      ['/webhooks', {}],
      ['/webhooks', { accept: '*/*' }],
    ] as const) {
      const { status, headers: given } = await get(path, headers);
      expect([status, given['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
    }
  });

  test('takes no other method than GET and HEAD', async () => {
    for (const path of ['/', '/webhooks', '/webhooks/id', assets[0]!]) {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const response = await page(path, { method });
        expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
      }
      expect((await page(path, { method: 'HEAD' })).status).toBe(200);
    }
  });
});

describe('over plain HTTP, where browsers tell no site', () => {
  const browser = { accept: 'text/html' };

  test.each(
    'parcels.example.com 192.0.2.1:8080 [2001:db8::1] localhost.example.com 127.0.0.1.example'.split(' '),
  )('at %s a page says that TLS is needed', async (host) => {
    const { status, headers, bytes } = await get('/', { ...browser, host });
    expect([status, headers['content-type']]).toEqual([403, 'text/html; charset=utf-8']);
    expect(headers['cache-control']).toBe('no-store');
    expect(bytes.toString()).toContain('HTTPS is needed');
    expect(bytes.toString()).toContain('PUBLIC_URL');
    expect(bytes.toString()).not.toContain('<script');
  });

  test.each(['localhost', 'localhost:8080', 'app.localhost', '127.0.0.1:1', '[::1]:8080'])(
    'at %s, which is the machine itself, the portal comes',
    async (host) => {
      expect((await get('/', { ...browser, host })).status).toBe(200);
    },
  );

  test('behind a proxy with TLS the portal comes', async () => {
    const host = 'parcels.example.com';
    expect((await get('/webhooks', { ...browser, host, 'sec-fetch-site': 'none' })).status).toBe(200);
  });
});

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

describe('assets', () => {
  test('are cached for ever under names that change with their contents', async () => {
    for (const asset of assets) {
      expect(asset).toMatch(/^\/assets\/\w+-[A-Z0-9]{8}\.\w+$/);
      const { status, headers } = await get(asset);
      expect(status).toBe(200);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers['content-type']).toBe(types[asset.split('.').at(-1)!]);
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });

  test('come as small as the browser can take them, and are the same in each form', async () => {
    for (const asset of assets) {
      const plain = await get(asset, { 'accept-encoding': 'identity' });
      const gzip = await get(asset, { 'accept-encoding': 'gzip' });
      const brotli = await get(asset, { 'accept-encoding': 'gzip, deflate, br, zstd' });
      expect([plain, gzip, brotli].map(({ headers }) => headers['content-encoding'])).toEqual([
        undefined,
        'gzip',
        'br',
      ]);
      expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes);
      expect(brotliDecompressSync(brotli.bytes)).toEqual(plain.bytes);
      if (plain.bytes.length > 1_000) expect(brotli.bytes.length).toBeLessThan(plain.bytes.length / 2);
      for (const { headers } of [plain, gzip, brotli]) expect(headers.vary).toBe('Accept-Encoding');
    }
  });

  test('a browser that has one already gets 304', async () => {
    const { headers } = await get(assets[0]!);
    expect(headers.etag).toMatch(/^W\/"[\w-]+"$/);
    const again = await get(assets[0]!, { 'if-none-match': headers.etag!, 'accept-encoding': 'br' });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
    expect((await get(assets[0]!, { 'if-none-match': 'W/"other"' })).status).toBe(200);
  });

  test('nothing else is there: no folder, no compressed file by its name, nothing beside or above', async () => {
    for (const path of [
      '/assets',
      '/assets/',
      '/assets/portal.js',
      `${assets[0]}.br`,
      `${assets[0]}.gz`,
      `${assets[0]}/x`,
      assets[0]!.toLowerCase(),
      '/assets/__proto__',
      '/assets/constructor',
      '/assets/../index.html',
      '/assets/..%2findex.html',
      '/assets/%2e%2e/index.html',
      '/assets/..%5cindex.html',
      '/assets/....//main.js',
      '/assets/..%2f..%2fmain.js',
      '/assets/%2fetc%2fpasswd',
      '/assets/..%252f..%252fmain.js',
      '/assets/%00',
    ]) {
      const { status, headers } = await get(path);
      expect([path, status]).toEqual([path, 404]);
      expect(headers['cache-control']).toBeUndefined();
    }
    for (const path of ['/assets/%', '/assets/%zz', '/assets/%c0%ae'])
      expect([path, (await get(path)).status]).toEqual([path, 400]);
    expect(await sendRaw(service.url, 'GET /assets/\u0000 HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400/,
    );
  });
});
