import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import {
  createClient,
  createOperatorClient,
  type Client,
  type ClientOptions,
} from '../../src/client/index.js';
import type { ServiceOptions } from '../../src/client/http/service.js';
import { sampleOrder } from '../support/client.js';
import { credentials, failureOf, inSequence, refused, startStandIn, type StandIn } from './stand-in.js';

let standIn: StandIn;
let client: Client;

const clientWith = (options: Partial<ServiceOptions> = {}) =>
  createClient({ url: standIn.url, ...credentials, ...options });

beforeEach(async () => {
  standIn = await startStandIn();
  client = clientWith();
});
afterEach(() => standIn.close());

const unavailable = refused(503, 'UNAVAILABLE');
const addresses = { data: { addresses: [] } };

describe('retries', () => {
  test.each([429, 502, 503, 504])('after %d, if the request may be sent twice', async (status) => {
    standIn.respond = inSequence({ status, raw: '<html>' }, refused(status, 'UNAVAILABLE'), addresses);
    expect(await client.egress()).toEqual({ addresses: [] });
    expect(standIn.calls).toHaveLength(3);
  });

  test('after a broken connection, with the same idempotency key for an order', async () => {
    standIn.respond = inSequence('reset', unavailable, { status: 201, data: { trackingId: 'PH1' } });
    expect(await client.shipments.create(sampleOrder())).toMatchObject({ trackingId: 'PH1' });
    const keys = standIn.calls.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f-]{36}$/)));
    expect(new Set(keys).size).toBe(1);
    await client.shipments.create(sampleOrder(), { idempotencyKey: 'order-1' });
    expect(standIn.calls.at(-1)!.headers['idempotency-key']).toBe('order-1');
  });

  test.each(['reset', unavailable] as const)('not after %j if it could take effect twice', async (reply) => {
    standIn.respond = () => reply;
    const failed = await failureOf(client.webhooks.rotateSecret('w'));
    expect(failed.code).toBe(reply === 'reset' ? 'UNREACHABLE' : 'UNAVAILABLE');
    expect(standIn.calls).toHaveLength(1);
  });

  test('not before Retry-After', async () => {
    standIn.respond = inSequence(refused(503, 'UNAVAILABLE', { 'retry-after': '1' }), addresses);
    const startedAt = performance.now();
    await client.egress();
    expect(performance.now() - startedAt).toBeGreaterThan(990);
  });

  test('not if Retry-After exceeds the remaining time: the error contains the wait', async () => {
    standIn.respond = () => refused(429, 'TOO_MANY_REQUESTS', { 'retry-after': '3600' });
    expect(await failureOf(client.egress())).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      retryAfterMs: 3_600_000,
    });
    expect(standIn.calls).toHaveLength(1);
    const inAMinute = new Date(Date.now() + 61_000).toUTCString();
    standIn.respond = () => refused(503, 'UNAVAILABLE', { 'retry-after': inAMinute });
    const { retryAfterMs } = await failureOf(client.egress());
    expect(retryAfterMs).toBeGreaterThan(50_000);
  });

  test('end after the maximum number of tries or the maximum time', async () => {
    standIn.respond = () => unavailable;
    await failureOf(clientWith({ retries: 1 }).egress());
    expect(standIn.calls).toHaveLength(2);
    const startedAt = performance.now();
    await failureOf(client.request('get', '/v1/egress', { retries: 1_000, totalTimeoutMs: 700 }));
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(standIn.calls.length).toBeLessThan(7);
  });

  const badGateway = { status: 502, raw: '' };
  test.each(['reset', 'hang', badGateway, refused(504, 'TIMEOUT')] as const)(
    'a repeated delete of a gone webhook succeeds after %j: its response may have been lost',
    async (reply) => {
      standIn.respond = inSequence(reply, unavailable, refused(404, 'NOT_FOUND'));
      expect(await client.webhooks.delete('w-1', { timeoutMs: 300 })).toEqual({ webhookId: 'w-1' });
    },
  );

  test('a delete of an unknown webhook fails, even if the service was busy before', async () => {
    standIn.respond = inSequence(unavailable, refused(429, 'TOO_MANY_REQUESTS'), refused(404, 'NOT_FOUND'));
    expect(await failureOf(client.webhooks.delete('w-1'))).toMatchObject({ status: 404 });
    expect(standIn.calls).toHaveLength(3);
  });
});

describe('time and size', () => {
  test('every request has a timeout', async () => {
    standIn.respond = () => 'hang';
    const failed = await failureOf(clientWith({ timeoutMs: 100, retries: 0 }).egress());
    expect(failed).toMatchObject({ code: 'TIMEOUT', status: null });
    expect(failed.message).toBe(`${standIn.url} did not respond within 0.1 s.`);
  });

  test('no request begins without time left, and any begins without a limit', async () => {
    expect((await failureOf(client.egress({ totalTimeoutMs: 0 }))).code).toBe('TIMEOUT');
    expect(standIn.calls).toEqual([]);
    standIn.respond = () => addresses;
    const endless = { timeoutMs: Infinity, totalTimeoutMs: Infinity };
    expect(await clientWith(endless).egress()).toEqual({ addresses: [] });
  });

  test('a trickling response is aborted, too', async () => {
    standIn.respond = (_call, response) => {
      response.writeHead(200).write('{"data":');
      return 'hang';
    };
    expect((await failureOf(clientWith({ timeoutMs: 100, retries: 0 }).egress())).code).toBe('TIMEOUT');
  });

  test('a response over 32 MiB is refused', async () => {
    standIn.respond = (_call, response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ');
      const more = () => void response.write(chunk, (error) => error ?? more());
      more();
      return 'hang';
    };
    expect(await failureOf(client.egress())).toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 200 });
  });

  test('a signal ends a call with its reason, and leaves a shared login to the others', async () => {
    let letIn = () => {};
    standIn.respond = () => addresses;
    standIn.login = (_call, response) => {
      letIn = () => response.end(JSON.stringify({ data: { token: 't', expiresIn: '9' } }));
      return 'hang';
    };
    const stop = new AbortController();
    const stopped = client.egress({ signal: stop.signal });
    const other = client.egress();
    while (standIn.logins.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    letIn();
    expect(await other).toEqual({ addresses: [] });
    expect(standIn.logins).toHaveLength(1);
    await expect(client.egress({ signal: stop.signal })).rejects.toThrow('enough');
    expect(standIn.calls).toHaveLength(1);
    standIn.respond = () => 'hang';
    await expect(client.egress({ signal: AbortSignal.timeout(50) })).rejects.toThrow(/timeout/);
    standIn.respond = () => unavailable;
    await expect(client.egress({ signal: AbortSignal.timeout(100) })).rejects.toThrow(/timeout/);
  });
});

describe('secrets', () => {
  test('go only to the service: redirects are not followed', async () => {
    const other = await startStandIn();
    standIn.respond = () => ({ status: 307, headers: { location: `${other.url}/v1/egress` }, raw: '' });
    expect(await failureOf(client.egress())).toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 307 });
    other.close();
    expect(other.calls).toEqual([]);
  });

  test('are in no error, whatever fails', async () => {
    const failures = [];
    for (const reply of [
      refused(403, 'FORBIDDEN'),
      { raw: '<html>' },
      { data: [] },
      'reset',
      'hang',
    ] as const) {
      standIn.respond = () => reply;
      failures.push(await failureOf(clientWith({ timeoutMs: 50, retries: 0 }).deliveries.list()));
    }
    standIn.login = () => ({ data: { token: 'bad\ntoken', expiresIn: 'x' } });
    failures.push(await failureOf(clientWith({ timeoutMs: 50, retries: 0 }).egress()));
    const fetch = () => Promise.reject(new Error(`${JSON.stringify(credentials)} failed`));
    failures.push(await failureOf(clientWith({ fetch, retries: 0 }).egress()));
    const shown = failures.map((failure) => inspect(failure, { depth: 9, showHidden: true })).join('\n');
    expect(failures.map(({ code }) => code)).toContain('UNREACHABLE');
    const basic = Buffer.from(`${credentials.email}:${credentials.password}`).toString('base64');
    for (const secret of [credentials.key, credentials.password, 'token-1', 'bad\ntoken', basic])
      expect(shown).not.toContain(secret);
  });

  test('are in no error about invalid options', () => {
    const url = 'ftp://user:sesame@example.com/?key=k-1';
    const thrown = [
      () => clientWith({ url }),
      () => createClient({ url: standIn.url, ...credentials, password: '' }),
      () => createClient({ url: standIn.url, ...credentials, key: undefined as never }),
      () => createOperatorClient({ url: standIn.url, token: 'tok\nen' }),
      () => clientWith({ userAgent: 'books/1\nsesame' }),
    ].map((make) => {
      expect(make).toThrow(TypeError);
      try {
        return inspect(make());
      } catch (error) {
        return inspect(error);
      }
    });
    expect(thrown.join()).not.toMatch(/sesame|k-1|tok\nen|horse/);
  });
});

describe('requests', () => {
  test('have ids as one segment of the path, whatever they contain', async () => {
    await client.webhooks.get('a/../b?c');
    expect(standIn.calls[0]!.path).toBe('/v1/webhooks/a%2F..%2Fb%3Fc');
    for (const id of ['', '.', '..']) await expect(client.webhooks.get(id)).rejects.toThrow(TypeError);
    expect(standIn.calls).toHaveLength(1);
  });

  test('with an invalid header value are refused at once, without a try', async () => {
    for (const idempotencyKey of ['', ' ', ' x', 'x ', 'x'.repeat(256), 'schlüssel', 'a\nb', null as never]) {
      const call = client.shipments.create(sampleOrder(), { idempotencyKey });
      await expect(call).rejects.toThrow(TypeError);
    }
    for (const headers of [{ 'x-note': 'a\nsesame' }, { 'x-note': 'sesame€' }, { 'x note': 'sesame' }]) {
      const call = client.request('get', '/v1/egress', { headers });
      await expect(call).rejects.toThrow(TypeError);
      await expect(call).rejects.not.toThrow('sesame');
    }
    expect([...standIn.logins, ...standIn.calls]).toEqual([]);
    await client.shipments.create(sampleOrder(), { idempotencyKey: '~'.repeat(255) });
    expect(standIn.calls).toHaveLength(1);
  });

  test('take a Date wherever they take a time, and refuse one that is invalid', async () => {
    const at = new Date('2026-12-01T10:00:00Z');
    await client.deliveries.list({ from: at, to: '2026-12-02' });
    expect(standIn.calls[0]!.query).toMatchObject({ from: at.toISOString(), to: '2026-12-02' });
    await client.shipments.create({ ...sampleOrder(), shipperDropoffDate: at });
    expect(standIn.calls[1]!.body).toMatchObject({ shipperDropoffDate: at.toISOString() });
    const invalid = new Date('tomorrow');
    for (const call of [
      client.shipments.list({ from: invalid }),
      client.webhooks.replay('w', { from: invalid, to: at }),
    ])
      await expect(call).rejects.toThrow(new TypeError('from is an invalid Date.'));
    expect(standIn.calls).toHaveLength(2);
  });

  test('refuse options that there are not, as the clients do', async () => {
    const misspelt = { timeout: 5 } as object;
    await expect(client.egress(misspelt)).rejects.toThrow(
      /^Unknown option timeout; the options are .*timeoutMs/,
    );
    await expect(client.events.follow(misspelt)[Symbol.asyncIterator]().next()).rejects.toThrow(TypeError);
    expect(() => clientWith(misspelt)).toThrow(/^Unknown option timeout; the options are url, timeoutMs/);
    expect(() => createOperatorClient({ url: standIn.url, token: 't', ...misspelt })).toThrow(TypeError);
    expect(standIn.calls).toEqual([]);
  });

  test('go below the path of the URL', async () => {
    await clientWith({ url: `${standIn.url}/parcels/?x#y` }).egress();
    expect(standIn.calls[0]!.path).toBe('/parcels/v1/egress');
  });

  test('fetch all pages, but no more than are read', async () => {
    standIn.respond = ({ query }) => ({
      data: {
        deliveries: [`${query.status} ${query.cursor ?? 1}`],
        nextCursor: query.cursor === '3' ? null : String(Number(query.cursor ?? 1) + 1),
      },
    });
    const seen = [];
    for await (const delivery of client.deliveries.all({ status: 'FAILED' })) seen.push(delivery);
    expect(seen).toEqual(['FAILED 1', 'FAILED 2', 'FAILED 3']);
    for await (const delivery of client.deliveries.all({ limit: 7 })) if (delivery) break;
    expect(standIn.calls.map(({ query }) => query.limit)).toEqual(['250', '250', '250', '7']);
  });

  test('of a program have its token, no key and no log-in, which no 401 repeats', async () => {
    const program = createClient({ url: standIn.url, token: 'phk_token' });
    standIn.respond = inSequence(addresses, refused(401, 'UNAUTHORIZED'));
    await program.egress();
    expect(await failureOf(program.egress())).toMatchObject({ status: 401 });
    expect(standIn.logins).toEqual([]);
    const sent = { query: {}, headers: { authorization: 'Bearer phk_token' } };
    expect(standIn.calls).toMatchObject([sent, sent]);
    const both = { url: standIn.url, token: 'phk_token', ...credentials } as unknown as ClientOptions;
    expect(() => createClient(both)).toThrow(new TypeError('Give either token, or key, email, password.'));
    for (const [token, message] of [
      [undefined, 'token is required.'],
      ['', 'token is required.'],
      ['phk a', 'token must be printable ASCII without spaces.'],
    ] as const)
      expect(() => createClient({ url: standIn.url, token: token as string })).toThrow(
        new TypeError(message),
      );
  });

  test("of an operator have the operator's token and no key", async () => {
    const operator = createOperatorClient({ url: standIn.url, token: 'operator-token' });
    standIn.respond = () => ({ status: 201, data: { shipperId: 's', accountKey: 'k' } });
    const { shipperId } = await operator.request('post', '/operator/v1/shippers', {
      body: { name: 'Books' },
    });
    expect(shipperId).toBe('s');
    expect(standIn.calls).toMatchObject([
      { query: {}, body: { name: 'Books' }, headers: { authorization: 'Bearer operator-token' } },
    ]);
  });
});

describe('the login', () => {
  const authorizations = () => standIn.calls.map(({ headers }) => headers.authorization);

  test('concurrent calls share one login, later ones do not', async () => {
    standIn.respond = () => addresses;
    await Promise.all([client.egress(), client.egress(), client.webhooks.get('w'), client.egress()]);
    await client.egress();
    expect(standIn.logins).toHaveLength(1);
    const basic = Buffer.from(`${credentials.email}:${credentials.password}`).toString('base64');
    expect(standIn.logins[0]).toMatchObject({
      query: { key: credentials.key },
      headers: { authorization: `Basic ${basic}` },
    });
    expect(authorizations()).toEqual(Array(5).fill('Bearer token-1'));
    expect(standIn.calls.map(({ query }) => query)).toEqual(Array(5).fill({ key: credentials.key }));
  });

  test('a new login is made before a token expires', async () => {
    standIn.respond = () => addresses;
    standIn.login = () => ({ data: { token: `token-${standIn.logins.length}`, expiresIn: '0' } });
    await client.egress();
    await client.egress();
    expect(authorizations()).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  test('a new login is made after a 401, once, even for calls that are never repeated', async () => {
    standIn.respond = inSequence(refused(401, 'UNAUTHORIZED'), { status: 201, data: { webhookId: 'w' } });
    const created = await client.webhooks.create({ interests: ['*'], targetAddress: 'https://example.com' });
    expect(created.webhookId).toBe('w');
    expect(authorizations()).toEqual(['Bearer token-1', 'Bearer token-2']);
    standIn.respond = () => refused(401, 'UNAUTHORIZED');
    expect(await failureOf(client.egress())).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    expect(standIn.calls).toHaveLength(4);
  });

  test('a refused login fails the call, and the next call tries again', async () => {
    standIn.respond = () => addresses;
    standIn.login = inSequence(refused(401, 'UNAUTHORIZED'), unavailable, {
      data: { token: 't', expiresIn: '9' },
    });
    expect(await failureOf(client.egress())).toMatchObject({ code: 'UNAUTHORIZED', requestId: 'req-1' });
    expect(await client.egress()).toEqual({ addresses: [] });
    expect(standIn.logins).toHaveLength(3);
  });

  function holdLogins(letThrough: number): () => void {
    const held: (() => void)[] = [];
    standIn.login = (_call, response) => {
      const data = { token: `token-${standIn.logins.length}`, expiresIn: '3600' };
      if (standIn.logins.length <= letThrough) return { data };
      held.push(() => response.end(JSON.stringify({ data })));
      return 'hang';
    };
    return () => held.forEach((response) => response());
  }

  test('a call waits for a login only within its own time, while the login continues for others', async () => {
    const finishLogin = holdLogins(0);
    standIn.respond = () => addresses;
    const patient = client.egress();
    const failed = await failureOf(client.egress({ totalTimeoutMs: 100 }));
    expect(failed).toMatchObject({
      code: 'TIMEOUT',
      message: `${standIn.url} did not respond within 0.1 s.`,
    });
    finishLogin();
    expect(await patient).toEqual({ addresses: [] });
    expect(standIn.logins).toHaveLength(1);
    expect(standIn.calls).toHaveLength(1);
  });

  test('after a 401 a call waits for a login no longer than its time, and sends nothing afterwards', async () => {
    const finishLogin = holdLogins(1);
    standIn.respond = inSequence(refused(401, 'UNAUTHORIZED'), addresses);
    const made = client.request('post', '/v1/webhooks', {
      body: { interests: ['*'], targetAddress: 'https://example.com' },
      totalTimeoutMs: 200,
    });
    expect((await failureOf(made)).code).toBe('TIMEOUT');
    const witness = client.egress();
    finishLogin();
    await witness;
    expect(standIn.calls.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });
});
