import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createClient, type Client } from '../../src/client/index.js';
import { credentials, failureOf, inSequence, refused, startStandIn, type StandIn } from './stand-in.js';

let standIn: StandIn;
let client: Client;

beforeEach(async () => {
  standIn = await startStandIn();
  client = createClient({ url: standIn.url, ...credentials });
});
afterEach(() => standIn.close());

const unavailable = refused(503, 'UNAVAILABLE');
const addresses = { data: { addresses: [] } };
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
  expect(failed).toMatchObject({ code: 'TIMEOUT', message: `${standIn.url} did not respond within 0.1 s.` });
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
