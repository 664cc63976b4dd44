import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createClient, type Client } from '../../src/client/index.js';
import { credentials, failureOf, inTurn, refused, startStandIn, type StandIn } from './stand-in.js';

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

test('one login is for all calls at the same time, and none for later ones', async () => {
  standIn.answer = () => addresses;
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

test('a login comes again before a token ends', async () => {
  standIn.answer = () => addresses;
  standIn.login = () => ({ data: { token: `token-${standIn.logins.length}`, expiresIn: '0' } });
  await client.egress();
  await client.egress();
  expect(authorizations()).toEqual(['Bearer token-1', 'Bearer token-2']);
});

test('a login comes again after a 401, once, also for what may not be sent twice', async () => {
  standIn.answer = inTurn(refused(401, 'UNAUTHORIZED'), { status: 201, data: { webhookId: 'w' } });
  const created = await client.webhooks.create({ interests: ['*'], targetAddress: 'https://example.com' });
  expect(created.webhookId).toBe('w');
  expect(authorizations()).toEqual(['Bearer token-1', 'Bearer token-2']);
  standIn.answer = () => refused(401, 'UNAUTHORIZED');
  expect(await failureOf(client.egress())).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
  expect(standIn.calls).toHaveLength(4);
});

test('a login that is refused fails the call, and the next call tries anew', async () => {
  standIn.answer = () => addresses;
  standIn.login = inTurn(refused(401, 'UNAUTHORIZED'), unavailable, {
    data: { token: 't', expiresIn: '9' },
  });
  expect(await failureOf(client.egress())).toMatchObject({ code: 'UNAUTHORIZED', requestId: 'req-1' });
  expect(await client.egress()).toEqual({ addresses: [] });
  expect(standIn.logins).toHaveLength(3);
});

/** Logins after the first few are answered when the function is called that it answers. */
function holdLogins(letThrough: number): () => void {
  const held: (() => void)[] = [];
  standIn.login = (_call, response) => {
    const data = { token: `token-${standIn.logins.length}`, expiresIn: '3600' };
    if (standIn.logins.length <= letThrough) return { data };
    held.push(() => response.end(JSON.stringify({ data })));
    return 'hang';
  };
  return () => held.forEach((answer) => answer());
}

test("a login is waited for within a call's time, and goes on for the others", async () => {
  const answerLogin = holdLogins(0);
  standIn.answer = () => addresses;
  const patient = client.egress();
  const failed = await failureOf(client.egress({ totalTimeoutMs: 100 }));
  expect(failed).toMatchObject({ code: 'TIMEOUT', message: `${standIn.url} did not answer within 0.1 s.` });
  answerLogin();
  expect(await patient).toEqual({ addresses: [] });
  expect(standIn.logins).toHaveLength(1);
  expect(standIn.calls).toHaveLength(1);
});

test('a login after a 401 is waited for no longer, and nothing is sent that nobody waits for', async () => {
  const answerLogin = holdLogins(1);
  standIn.answer = inTurn(refused(401, 'UNAUTHORIZED'), addresses);
  const made = client.request('post', '/v1/webhooks', {
    body: { interests: ['*'], targetAddress: 'https://example.com' },
    totalTimeoutMs: 200,
  });
  expect((await failureOf(made)).code).toBe('TIMEOUT');
  const witness = client.egress();
  answerLogin();
  await witness;
  expect(standIn.calls.map(({ method }) => method)).toEqual(['POST', 'GET']);
});
