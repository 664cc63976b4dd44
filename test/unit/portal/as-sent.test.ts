/** Runs the command that the portal gives for an attempt. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { curlCommand } from '../../../src/portal/places/deliveries/as-sent.js';

let received: { url: string; headers: Record<string, string>; body: Buffer }[] = [];
const server = createServer((request, response) => {
  void buffer(request).then((body) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Buffer.from(String(value), 'latin1').toString(),
      ]),
    );
    received.push({ url: request.url!, headers, body });
    response.end('arrived');
  });
});
let address: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const signed = {
  host: 'elsewhere.example.com',
  'content-type': 'application/json',
  'user-agent': 'Parcelhook/0.1.0',
  'webhook-id': "o'clock",
  'webhook-timestamp': '1795262400',
  'webhook-signature': 'v1,AAEC= v1,AwQF=',
  accept: '*/*',
  'x-own': '••••',
  'x-empty': '',
  'content-length': '1',
  connection: 'keep-alive',
};

test.each([
  ['quotes, a shell at work and backslashes', '{"a":"it\'s $(id) `id` \\"\\\\n\\" !! %s"}'],
  ['texts of other scripts, and emoji', '{"calle":"Peñón 漢字 📦"}'],
  ['lines of its own', '{\n  "a": 1\r\n}\n\n'],
  ['what curl takes for a file', '@/etc/passwd'],
  ['nothing', ''],
  ['more than curl sends unasked', `{"a":"${'x'.repeat(5_000_000)}'"}`],
])('as a command, a body with %s arrives byte for byte, with its headers', async (_name, body) => {
  received = [];
  const path = "/hook/it's/{a,b}/[1-3]/$HOME";
  const command = curlCommand(`${address}${path}`, signed, body);
  const running = promisify(execFile)('sh', ['-s']);
  running.child.stdin!.end(command);
  const { stdout } = await running;
  expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*arrived$/); // and nothing asked before
  expect(received).toHaveLength(1);
  const [{ url, headers, body: bytes }] = received as [(typeof received)[number]];
  expect(url).toBe(path);
  expect(bytes.equals(Buffer.from(body))).toBe(true);
  const own = { host: address.slice('http://'.length), 'content-length': String(bytes.length) };
  expect(headers).toEqual({ ...signed, ...own, connection: undefined });
});
