import { describe, expect, test } from '@jest/globals';
import net from 'node:net';

import { inDenied, type DestinationPolicy } from '../../../../src/engine/send/destination.js';
import { loopback, open } from './loopback.js';
import { corpusPolicy, stubDns, stubResolver } from '../../../support/ssrf-corpus.js';

function send(url: string, sender = open(), headers = ['Webhook-Id', 'e1']) {
  return sender.send({ url, shipperId: 's', headers, body: '{"secret":1}', timeoutMs: 2_000 });
}

describe('denied addresses', () => {
  test.each(['http', 'https'])(
    '%s: a hostname that resolves to one is not connected to, on any attempt',
    async (scheme) => {
      const { port, connections } = await loopback.listen(net.createServer());
      let lookups = 0;
      const stub = stubResolver('A 93.184.215.14, A 127.0.0.1');
      const sender = open({
        policy: { ...corpusPolicy, allowedPorts: [port] },
        dns: stubDns((hostname) => {
          lookups++;
          return stub(hostname);
        }),
      });
      for (let attempt = 1; attempt <= 3; attempt++) {
        const outcome = await send(`${scheme}://rebind.example.org:${port}/`, sender);
        expect(outcome).toMatchObject({ errorCode: 'DNS', errorDetail: null, statusCode: null });
        expect(lookups).toBe(attempt);
      }
      expect(connections()).toBe(0);
    },
  );

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]'])(
    'the literal %s, for which Node does no lookup, is not connected to',
    async (host) => {
      const { port, connections } = await loopback.listen(net.createServer());
      for (const scheme of ['http', 'https']) {
        const outcome = await send(`${scheme}://${host}:${port}/`, open({ policy: corpusPolicy }));
        expect(outcome.errorCode).toBe('ADDRESS_DENIED');
      }
      expect(connections()).toBe(0);
    },
  );
});

describe('send never rejects', () => {
  test.each([
    '',
    'nonsense',
    'ftp://example.org/',
    'unix:/var/run/docker.sock:/x',
    'http://unix/var/run/x.sock:/x',
  ])('%j is a PROTOCOL failure', async (url) => {
    expect(await send(url)).toMatchObject({ ok: false, errorCode: 'PROTOCOL', statusCode: null });
  });

  test('a header that would inject another is a PROTOCOL failure, and nothing is sent', async () => {
    const { url, connections } = await loopback.listen(net.createServer());
    expect(await send(url, open(), ['X-A', 'a\r\nX-B: b'])).toMatchObject({ errorCode: 'PROTOCOL' });
    expect(connections()).toBe(0);
  });

  test.each(['NXDOMAIN', 'SERVFAIL', 'NODATA'])('%s is a DNS failure', async (dns) => {
    const sender = open({ policy: corpusPolicy, dns: stubDns(stubResolver(dns)) });
    expect(await send('https://nx.example.org/', sender)).toMatchObject({
      errorCode: 'DNS',
      statusCode: null,
    });
  });
});

describe('a policy that became tighter', () => {
  const elsewhere = new URL('https://parcelhook.example.org/');
  test.each<[string, string, Partial<DestinationPolicy>]>([
    ['http is off', 'http://shop.example.org/', { allowHttpTargets: false }],
    ['its port is no longer allowed', 'https://shop.example.org:8443/', { allowedPorts: [443] }],
    ['private targets are off', 'https://localhost/', {}],
    ['its network is denied', 'https://93.184.215.14/', { isDenied: inDenied(['93.184.0.0/16']) }],
    ['it is the service itself', 'https://parcelhook.example.org/v1', { publicUrl: elsewhere }],
    ['it is written as is no longer taken', 'https://shop.example.org:0443/', {}],
  ])('%s: earlier registrations are not called any more', async (_, url, change) => {
    const dns = stubDns(stubResolver('A 93.184.215.14'));
    const outcome = await send(url, open({ policy: { ...corpusPolicy, ...change }, dns }));
    expect(outcome).toMatchObject({ errorCode: 'ADDRESS_DENIED', statusCode: null });
  });

  test('its name leads to a denied network: it is as if there were no such name', async () => {
    const policy = { ...corpusPolicy, isDenied: inDenied(['93.184.215.14/32']) };
    const sending = (dns: string) =>
      send('https://shop.example.org/', open({ policy, dns: stubDns(stubResolver(dns)) }));
    const denied = await sending('A 93.184.215.14');
    expect(denied).toMatchObject({ errorCode: 'DNS', errorDetail: null, remoteAddress: null });
    const durationMs = expect.any(Number);
    expect({ ...(await sending('NXDOMAIN')), durationMs }).toEqual({ ...denied, durationMs });
  });
});
