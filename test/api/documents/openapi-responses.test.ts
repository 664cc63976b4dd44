import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { sampleOrder, registerWebhook, placeOrder, type Account } from '../../support/client.js';
import { startProcess, startServiceWith, stopProcess, type Service } from '../../support/harness.js';
import { startReceiver, type Received, type Receiver } from '../../support/receiver.js';
import type { OpenApiDocument } from '../../../src/http/openapi/schemas.js';
import { bareCall, callsOf, makeWorld, type Call, type World } from './openapi-calls.js';
import { responseChecker } from '../../support/openapi.js';

const tokens = { read: 'token-that-may-read', events: 'token-that-may-record' };
let service: Service;
let receiver: Receiver;
let world: World;
let calls: Record<string, Call>;
let checker: ReturnType<typeof responseChecker>;

beforeAll(async () => {
  service = await startServiceWith({
    SIMULATE: 'true',
    WEBHOOKS_PER_SHIPPER: '5',
    // Nobody listens there; without it, a request for a password link needs no database.
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'parcelhook@example.com',
    OPERATOR_TOKENS: `r:read:${tokens.read},e:events:${tokens.events}`,
  });
  receiver = await startReceiver();
  world = await makeWorld(service, receiver.url);
  calls = callsOf(service, world);
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
  checker = responseChecker(document);
});
afterAll(async () => {
  await receiver?.close();
  await service?.stop();
});

async function openWay(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    for (const one of [socket, onward]) sockets.add(one.on('error', () => undefined));
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.toString(),
    shut: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const unknownId = '018f0000-0000-7000-8000-000000000000';

const thatReturn = (httpStatus: number): [string, Call][] =>
  [...checker.operations.values()]
    .filter(({ operation }) => httpStatus in operation.responses)
    .map(({ operation: { operationId } }) => [operationId, calls[operationId]!]);

async function checked(operationId: string, httpStatus: number, response: ReturnType<Call>): Promise<void> {
  const { httpStatus: given, body } = await response;
  expect({ operationId, httpStatus: given, body }).toMatchObject({ operationId, httpStatus });
  checker.check(operationId, await response);
}

test('every operation of the document has a call in this test', () => {
  expect(Object.keys(calls).sort()).toEqual([...checker.operations.keys()].sort());
});

describe('the document describes the responses', () => {
  test('to missing and wrong credentials', async () => {
    for (const [id, call] of thatReturn(401)) {
      if (id === 'createSession') {
        const { accountKey: key, email } = world.account;
        await checked(id, 401, call({}, { body: { key, email, password: 'a wrong password' } }));
        continue;
      }
      await checked(id, 401, call({}, { headers: { authorization: '' } }));
      await checked(id, 401, call({}, { headers: { authorization: 'Bearer wrong' } }));
    }
  });

  test("to another shipper's key, a suspended shipper, and a token for something else", async () => {
    const account = { ...world.account, accountKey: world.other.accountKey };
    const [other, guest] = [world.other, world.guest].map((one) => ({
      ...one,
      accountKey: world.account.accountKey,
    })) as [Account, Account];
    for (const [id, call] of thatReturn(403)) {
      const { path, method } = checker.operations.get(id)!;
      const token = method === 'get' ? tokens.events : tokens.read;
      const headers = {
        ...(path.startsWith('/operator') && { authorization: `Bearer ${token}` }),
        ...(path === '/v1/session' && { 'sec-fetch-site': 'cross-site' }),
      };
      const accounts = { account: id === 'login' ? world.suspended : account, other, guest };
      await checked(id, 403, call(accounts, { headers }));
    }
  });

  test('to unknown ids', async () => {
    const account = { ...world.account, shipperId: unknownId, userId: unknownId };
    const nothing = {
      leaving: account,
      webhookId: unknownId,
      deliveryId: unknownId,
      replayId: unknownId,
      tokenId: unknownId,
      sessionId: unknownId,
      trackingId: 'NONE',
      toCancel: 'NONE',
    };
    const valid = { token: 'x'.repeat(43), password: 'correct horse battery' };
    const ofLinks = ['setPassword', 'openPortal', 'confirmAddress'];
    for (const [id, call] of thatReturn(404)) {
      const body = ofLinks.includes(id) ? { body: valid } : {};
      const { token } = valid;
      const links = { linkToken: token, supportToken: token, confirmToken: token };
      await checked(id, 404, call({ ...nothing, account, ...links }, body));
    }
  });

  test('to bodies that are too large, of another type, or not JSON', async () => {
    const large = { raw: JSON.stringify({ padding: 'x'.repeat(256 * 1024) }) };
    for (const [id, call] of thatReturn(413)) await checked(id, 413, call({}, large));
    const text = { raw: 'x', headers: { 'content-type': 'text/plain' } };
    for (const [id, call] of thatReturn(415)) {
      await checked(id, 415, call({}, text));
      await checked(id, 400, call({}, { raw: '{' }));
    }
  });

  test('to invalid parameters', async () => {
    const leaving = { ...world.leaving, shipperId: '%zz', userId: '%zz' };
    const junk = { leaving, page: '?limit=0', webhookId: '%zz', deliveryId: '%zz', trackingId: '%zz' };
    const ofOperator = ['listShippers', 'listAudit', 'listUsers', 'removeUser', 'removeShipper'];
    for (const id of ['getWebhook', 'deleteWebhook', 'getDelivery', 'trackShipment', ...ofOperator])
      await checked(id, 400, calls[id]!(junk));
    for (const id of [
      'listWebhooks',
      'listDeliveries',
      'listShipments',
      'listReplays',
      'listOwnUsers',
      'listOwnAudit',
    ]) {
      const account = { ...world.account, accountKey: `${world.account.accountKey}&limit=0` };
      await checked(id, 400, calls[id]!({ account }));
    }
    await checked('integrateOrder', 400, calls.integrateOrder!({}, { body: { package: 7 } }));
    const guess = { body: { currentPassword: 'a wrong password', newPassword: 'long enough now' } };
    await checked('changePassword', 400, calls.changePassword!({}, guess));
    const short = { body: { token: world.linkToken, password: 'short' } };
    await checked('setPassword', 400, calls.setPassword!({}, short));
    await checked('confirmAddress', 400, calls.confirmAddress!({}, { raw: '{' }));
    const elsewhere = { headers: { 'sec-fetch-site': 'cross-site' } };
    await checked('openPortal', 400, calls.openPortal!({}, elsewhere));
  });

  test('to unknown query parameters', async () => {
    const all = [...checker.operations.values()].filter(({ path }) => /^\/(operator\/)?v1\//.test(path));
    for (const described of all)
      await checked(
        described.operation.operationId,
        400,
        bareCall(service, world.account, described, 'unknown=1'),
      );
  });

  test('to successful calls', async () => {
    await checked('declareWebhook', 201, calls.declareWebhook!());
    const last = ['deleteWebhook', 'setPassword', 'openPortal'];
    const ids = Object.keys(calls).sort((a, b) => last.indexOf(a) - last.indexOf(b));
    for (const id of ids) {
      const { responses } = checker.operations.get(id)!.operation;
      if (id === 'deleteWebhook') continue; // other calls still need the webhook
      await checked(id, Number(Object.keys(responses)[0]), calls[id]!());
    }
  });

  test('to conflicting calls', async () => {
    const again = { headers: { 'idempotency-key': 'once' } };
    await checked('integrateOrder', 201, calls.integrateOrder!({}, again));
    const other = { body: { ...sampleOrder(), lotId: 'LOT-8' }, ...again };
    await checked('integrateOrder', 409, calls.integrateOrder!({}, other));
    await checked('recordEvent', 409, calls.recordEvent!({}, { body: { state: 'DELIVERED' } }));
    await checked('cancelShipment', 409, calls.cancelShipment!());
    await checked('simulateShipment', 409, calls.simulateShipment!());
    await checked('createUser', 409, calls.createUser!());
    await calls.pauseWebhook!();
    await checked('updateWebhook', 409, calls.updateWebhook!({}, { body: { status: 'ACTIVE' } }));
    await calls.resumeWebhook!();
    await calls.updateWebhook!({}, { body: { status: 'PAUSED' } });
    await checked('resumeWebhook', 409, calls.resumeWebhook!());
    await calls.updateWebhook!({}, { body: { status: 'ACTIVE' } });
    for (let rotations = 1; rotations <= 5; rotations += 1) await calls.rotateSecret!();
    await checked('rotateSecret', 409, calls.rotateSecret!());
    await service.sql(`insert into replays select gen_random_uuid(), webhook_id, shipper_id, null, null, last_event_id,
    end_event_id, 1, 0, 'RUNNING', now() + interval '1 day' from replays, generate_series(1, 10)`);
    await service.sql(
      `insert into program_tokens (token_id, shipper_id, token_hash, name, scopes)
       select gen_random_uuid(), shipper_id, sha256(n::text::bytea), '', '{read}'
         from shippers, generate_series(1, 50) n where shipper_id = $1`,
      [world.account.shipperId],
    );
    await checked('createToken', 409, calls.createToken!());
    for (const id of ['replayWebhook', 'replayForShipper']) await checked(id, 409, calls[id]!());
    for (let webhooks = 2; webhooks < 5; webhooks += 1) await calls.createWebhook!();
    await checked('createWebhook', 409, calls.createWebhook!());
    const secret = `whsec_${'A'.repeat(32)}`;
    await checked('declareWebhook', 409, calls.declareWebhook!({}, { body: { secret } }));
  });

  test('to too many concurrent requests', async () => {
    receiver.reply = () => ({ delayMs: 1_000 });
    const tests = await Promise.all(Array.from({ length: 6 }, () => calls.testWebhook!()));
    receiver.reply = () => ({});
    for (const response of tests) checker.check('testWebhook', response);
    expect(
      tests
        .map(({ httpStatus }) => httpStatus)
        .sort()
        .at(-1),
    ).toBe(429);
  });

  test('and the notifications: states, tests and notices', async () => {
    await service.sql(`update webhooks set status = 'DISABLED', deleted_at = now() where webhook_id <> $1`, [
      world.webhookId,
    ]);
    const isTest = ({ notification }: Received) => notification.tracking_id === 'TEST';
    const [tests, states] = [true, false].map((wanted) =>
      receiver.received.filter((received) => isTest(received) === wanted),
    ) as [Received[], Received[]];
    for (const received of tests) checker.checkReceived('testNotification', received);
    for (const received of states) checker.checkReceived('shipmentState', received);
    expect(Math.min(tests.length, states.length)).toBeGreaterThan(1);
    expect(() => checker.checkReceived('testNotification', states[0]!)).toThrow();
    const gone = await startReceiver(() => ({ status: 410 }));
    await calls.updateWebhook!({}, { body: { interests: ['WEBHOOK_DISABLED'] } });
    await registerWebhook(world.account, gone.url);
    await placeOrder(world.account);
    const [notice] = await receiver.waitFor(1, ({ notification }) => 'webhook_id' in notification);
    checker.checkReceived('webhookNotice', notice!);
    expect(() => checker.checkReceived('shipmentState', notice!)).toThrow();
    expect(notice!.notification).toMatchObject({ state: 'WEBHOOK_DISABLED', reason: 'GONE' });
    await gone.close();
  });

  test('about a notice, and a deleted webhook', async () => {
    const { data } = await calls.listDeliveries!();
    const notice = (data.deliveries as { deliveryId: string; state: string }[]).find(
      ({ state }) => state === 'WEBHOOK_DISABLED',
    )!;
    await checked('getDelivery', 200, calls.getDelivery!(notice));
    await checked('listDeliveries', 200, calls.listDeliveries!());
    await checked('deleteWebhook', 200, calls.deleteWebhook!());
    for (const id of ['redeliver', 'redeliverForShipper']) await checked(id, 409, calls[id]!());
  });

  test('while PostgreSQL is down', async () => {
    const way = await openWay(service.env.DATABASE_URL!);
    const process = await startProcess({ ...service.env, DATABASE_URL: way.url }, 'api');
    way.shut();
    // Status shows what it can read; its 503 is that of a process with too many requests.
    for (const [id, call] of thatReturn(503))
      await checked(id, id === 'getStatus' ? 200 : 503, call({}, {}, process.url));
    await stopProcess(process);
  });

  test('to methods that the path does not support', async () => {
    const response = await fetch(`${service.url}/v1/webhooks`, { method: 'PUT' });
    expect(response.headers.get('allow')).toBe('GET, POST, HEAD');
    checker.checkShared('MethodNotAllowed', await response.json());
  });
});

test('every response in the document was seen, except those of limits', () => {
  const promised = [...checker.operations.values()].flatMap(({ operation: { operationId, responses } }) =>
    Object.keys(responses).map((httpStatus) => `${operationId} ${httpStatus}`),
  );
  const open = promised.filter(
    (one) => !checker.seen.has(one) && !/ (default|304|429)$|^getStatus 503$/.test(one),
  );
  expect(open).toEqual([]);
});
