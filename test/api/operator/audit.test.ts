import { afterAll, describe, expect, test } from '@jest/globals';
import {
  readAll,
  basic,
  logInToPortal,
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  request,
} from '../../support/client.js';
import { startServiceToInspect, stopProcess } from '../../support/harness.js';
import { until } from '../../support/until.js';
import { expectLimited } from '../limits/limited.js';
import { expectFailure, expectSuccess, expectWrong, offsetForm, uuidForm } from '../../support/expect.js';

const tokens = {
  reader: 'token-of-the-reader',
  scanner: 'token-of-the-scanner',
  admin: 'token-of-the-admin',
};
const address = '203.0.113.7';
const from = { 'x-forwarded-for': address };

const service = await startServiceToInspect({
  TRUST_PROXY: 'loopback',
  OPERATOR_TOKENS: `reader:read:${tokens.reader},scanner:events:${tokens.scanner},second-admin:admin:${tokens.admin}`,
});
const account = await registerAccount(service);
afterAll(() => service.stop());

interface Entry {
  auditId: string;
  at: string;
  action: string;
  outcome: string;
  actor: { kind: string; name: string | null; address: string | null };
  shipperId: string | null;
  userId: string | null;
  webhookId: string | null;
  shipmentId: string | null;
  fields: string[];
  count: number;
}
const audit = async (query = '') =>
  (await operator(service, `/audit?limit=250${query}`)).data.entries as unknown as Entry[];
const as = (token: string, path: string, options: Parameters<typeof operator>[2] = {}) =>
  operator(service, path, { ...options, headers: { authorization: `Bearer ${token}`, ...from } });

describe('the audit log', () => {
  test('records who changed which account, webhook or secret, when and from where, but no values', async () => {
    const { accountKey, shipperId, userId } = account;
    const own = (path: string, method: string, body?: object) =>
      account.call(path, { method, headers: from, ...(body && { body }) });
    const trackingId = await placeOrder(account, 'planted order');
    const secretPath = 'https://example.org/planted-path';
    const created = await own('/v1/webhooks', 'POST', { interests: ['*'], targetAddress: secretPath });
    const webhookId = created.data.webhookId as string;
    const path = `/v1/webhooks/${webhookId}`;
    await own(path, 'PATCH', { status: 'PAUSED', headers: { 'X-Planted': 'planted-header' } });
    await own(`${path}/rotate-secret`, 'POST', { overlap: '1h' });
    await own(`${path}/secrets/previous`, 'DELETE');
    await own(`${path}/secrets/previous`, 'DELETE'); // there is none any more
    await own(path, 'DELETE');
    await as(tokens.admin, `/shippers/${shipperId}`, { method: 'PATCH', body: { name: 'Planted Name' } });
    const rotated = await as(tokens.admin, `/shippers/${shipperId}/rotate-key`, { body: {} });
    const link = await as(tokens.admin, `/users/${userId}/password-link`, { method: 'POST' });
    const token = new URL(link.data.setPasswordUrl as string).searchParams.get('token')!;
    await request(`${service.url}/set-password`, {
      body: { token, password: 'planted password' },
      headers: from,
    });
    await as(tokens.admin, `/users/${userId}/sign-out`, { method: 'POST' });
    const erase = () => as(tokens.admin, `/shipments/${trackingId}/erase`, { method: 'POST' });
    const { shipmentId } = (await erase()).data as { shipmentId: string };
    expect((await erase()).data.shipmentId).toBe(shipmentId);

    const entries = await audit(`&shipperId=${shipperId}`);
    const byUser = { kind: 'USER', name: userId, address };
    const byOperator = { kind: 'OPERATOR', name: 'second-admin', address };
    const first = {
      kind: 'OPERATOR',
      name: 'operator',
      address: expect.stringMatching(/127\.0\.0\.1$|^::1$/),
    };
    const expected = [
      ['SHIPPER_CREATED', first, {}],
      ['USER_CREATED', first, { userId }],
      ['WEBHOOK_CREATED', byUser, { webhookId }],
      ['WEBHOOK_UPDATED', byUser, { webhookId, fields: ['headers', 'status'] }],
      ['WEBHOOK_SECRET_ROTATED', byUser, { webhookId }],
      ['WEBHOOK_SECRETS_ENDED', byUser, { webhookId }],
      ['WEBHOOK_DELETED', byUser, { webhookId }],
      ['SHIPPER_RENAMED', byOperator, { fields: ['name'] }],
      ['ACCOUNT_KEY_ROTATED', byOperator, {}],
      ['PASSWORD_LINK_CREATED', byOperator, { userId }],
      ['PASSWORD_SET', byUser, { userId }],
      ['USER_SIGNED_OUT', byOperator, { userId }],
      ['SHIPMENT_ERASED', byOperator, { shipmentId, trackingId }],
    ] as const;
    expect(entries.reverse().map((entry) => ({ ...entry, fields: [...entry.fields].sort() }))).toEqual(
      expected.map(([action, actor, about]) => ({
        auditId: expect.stringMatching(uuidForm),
        at: expect.stringMatching(offsetForm),
        outcome: 'DONE',
        count: 1,
        userId: null,
        webhookId: null,
        shipmentId: null,
        trackingId: null,
        tokenId: null,
        fields: [],
        shipperId,
        action,
        actor,
        ...about,
      })),
    );
    const rows = JSON.stringify(await service.sql('select audit::text from audit'));
    for (const planted of [
      ...['planted', 'Planted', account.email, account.password, accountKey, account.token, token],
      ...[created.data.secret as string, rotated.data.accountKey as string, tokens.admin],
    ])
      expect({ planted, found: rows.includes(planted) }).toEqual({ planted, found: false });
  });

  test('a refused or ineffective change leaves no line, and a change that cannot be logged is not made', async () => {
    const other = await registerAccount(service, 'other@example.com');
    const { webhookId } = await registerWebhook(other, 'https://example.org/hook');
    const before = (await audit(`&shipperId=${other.shipperId}`)).length;
    await other.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'NONE' } });
    await other.call(`/v1/webhooks/${account.userId}`, { method: 'DELETE' });
    await operator(service, `/shippers/${other.shipperId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
    expect(await audit(`&shipperId=${other.shipperId}`)).toHaveLength(before);
    await service.sql('alter table audit rename to audit_elsewhere');
    const paused = await other.call(`/v1/webhooks/${webhookId}`, {
      method: 'PATCH',
      body: { status: 'PAUSED' },
    });
    await service.sql('alter table audit_elsewhere rename to audit');
    expect(paused.httpStatus).toBe(500);
    expect((await other.call(`/v1/webhooks/${webhookId}`)).data.status).toBe('ACTIVE');
  });

  test('has one line, with a count, for what one user does to one thing within a minute from one address', async () => {
    const own = await registerAccount(service, 'busy@example.com');
    const { webhookId } = await registerWebhook(own, 'https://example.org/hook');
    const path = `/v1/webhooks/${webhookId}`;
    const patch = (body: object, headers = from) => own.call(path, { method: 'PATCH', body, headers });
    for (let n = 0; n < 5; n += 1) expectSuccess(await patch({ description: `${n}` }), 200);
    expectSuccess(await patch({ status: 'PAUSED', description: 'last' }), 200);
    await patch({ description: 'elsewhere' }, { 'x-forwarded-for': '203.0.113.8' });
    for (let n = 0; n < 2; n += 1)
      await own.call(`${path}/rotate-secret`, { body: { overlap: '0s' }, headers: from });
    const lines = await audit(`&webhookId=${webhookId}`);
    expect(lines.map(({ action, count, fields }) => [action, count, [...fields].sort()])).toEqual([
      ['WEBHOOK_SECRET_ROTATED', 2, []],
      ['WEBHOOK_UPDATED', 1, ['description']],
      ['WEBHOOK_UPDATED', 6, ['description', 'status']],
      ['WEBHOOK_CREATED', 1, []],
    ]);
    for (let n = 9; n < 60; n += 1) await patch({ description: `${n}` });
    const refused = await patch({ description: 'refused' });
    expectLimited(refused, 60);
    expect((await own.call(path)).data.description).toBe('59');
    const other = await registerWebhook(own, 'https://example.org/other');
    await own.call(`/v1/webhooks/${other.webhookId}`, { method: 'PATCH', body: { status: 'PAUSED' } });
  });

  test('can only be appended to', async () => {
    const rewrites = [
      `actor = 'x'`,
      'count = count',
      'count = 0',
      `count = count + 1, fields = '{}'`,
      `count = count + 1, actor = 'x'`,
    ].map((change) => `update audit set ${change} where fields <> '{}'`);
    for (const statement of [...rewrites, 'delete from audit', 'truncate audit'])
      await expect(service.sql(statement)).rejects.toThrow('append-only');
    expect((await audit()).length).toBeGreaterThan(0);
  });

  test('is paged and filtered by actor, action and time', async () => {
    const all = await audit();
    expect(await readAll((path) => operator(service, path), '/audit?limit=4', 'entries')).toEqual(all);
    const { webhookId } = all.find((entry) => entry.webhookId)!;
    const middle = all[3]!;
    for (const [query, matches] of [
      [`actor=second-admin`, ({ actor }: Entry) => actor.name === 'second-admin'],
      [`action=USER_CREATED`, ({ action }: Entry) => action === 'USER_CREATED'],
      [`userId=${account.userId}`, ({ userId }: Entry) => userId === account.userId],
      [`webhookId=${webhookId!}`, (entry: Entry) => entry.webhookId === webhookId],
      [`outcome=REFUSED`, ({ outcome }: Entry) => outcome === 'REFUSED'],
      [`from=${encodeURIComponent(middle.at)}`, ({ at }: Entry) => at >= middle.at],
      [`to=${encodeURIComponent(middle.at)}`, ({ at }: Entry) => at <= middle.at],
    ] as const)
      expect([query, await audit(`&${query}`)]).toEqual([query, all.filter(matches)]);
    const wrong = '/audit?action=NONE&outcome=MAYBE&shipperId=x&actor=a%20b&from=soon&limit=0&cursor=x';
    expectWrong(await operator(service, wrong), [
      ...['action', 'outcome', 'shipperId', 'actor', 'from', 'limit', 'cursor'],
    ]);
  });
});

describe('operator tokens', () => {
  test('are limited to their scope: 403 outside it, 401 for any other token', async () => {
    expectFailure(await logInToPortal(service, { ...account, password: 'guessed' }), 401); // for the next test
    const event = { body: { events: [{ trackingId: 'NONE', state: 'PICKED_UP' }] } };
    const shipper = { body: { name: 'Acme' } };
    expectSuccess(await as(tokens.reader, '/status'), 200);
    expectSuccess(await as(tokens.reader, '/shippers'), 200);
    expectFailure(await as(tokens.reader, '/events', event), 403);
    expectFailure(await as(tokens.reader, '/shippers', shipper), 403);
    expectSuccess(await as(tokens.scanner, '/events', event), 202);
    expectFailure(await as(tokens.scanner, '/audit'), 403);
    expectFailure(await as(tokens.scanner, '/shippers', shipper), 403);
    for (const [path, options] of [
      ['/status', {}],
      ['/events', event],
    ] as const)
      expect((await as(tokens.admin, path, options)).httpStatus).toBeLessThan(300);
    expectSuccess(await as(tokens.admin, '/shippers', shipper), 201);
    expectFailure(await as(`${tokens.admin}x`, '/status'), 401);
    expectFailure(await as('second-admin', '/status'), 401);
  });

  test('refused operator tokens and failed logins are counted per address block of the stranger and written as few lines', async () => {
    const victim = await registerAccount(service, 'victim@example.com');
    const attack = Array.from({ length: 30 }, (_, n) => n);
    const guess = (n: number) =>
      request(`${service.url}/v1/login?key=${victim.accountKey}`, {
        headers: {
          authorization: basic(victim.email, 'guessed'),
          'x-forwarded-for': `198.51.${n % 15}.${n}`,
        },
      });
    // The first are written after a second, the others within a minute or at the stop.
    await until(
      'the first refusals are written, also of a login to the portal',
      async () =>
        (await audit('&action=OPERATOR_REFUSED')).length > 0 &&
        (await audit(`&action=LOGIN_REFUSED&userId=${account.userId}`)).length === 1,
    );
    for (let n = 0; n < 5; n += 1) expectFailure(await as('a-wrong-token', '/status'), 401);
    for (const authorization of ['Bearer a-wrong-token', `Bearer ${tokens.scanner}`, '']) {
      const headers = { authorization, 'x-forwarded-for': address };
      expect((await request(`${service.url}/readyz`, { headers })).httpStatus).toBe(200);
    }
    for (const n of attack) {
      const headers = {
        authorization: 'Bearer a-wrong-token',
        'x-forwarded-for': `2001:db8:0:${10 + n}00::1`,
      };
      expectFailure(await operator(service, '/status', { headers }), 401);
    }
    expectFailure(await as(tokens.reader, '/shippers', { body: { name: 'Acme' } }), 403);
    for (const n of [...attack, ...attack]) expectFailure(await guess(n), 401);
    await stopProcess(service.process);
    const rows = (action: string) =>
      service.sql<{ actor: string | null; address: string | null; user_id: string | null; count: number }>(
        `select actor, address, user_id, count from audit where action = $1 and outcome = 'REFUSED'`,
        [action],
      );
    const logins = await rows('LOGIN_REFUSED');
    expect(logins.reduce((sum, { count }) => sum + count, 0)).toBe(1 + 60);
    expect(logins).toHaveLength(1 + 11);
    expect(logins).toContainEqual({
      actor: null,
      address: '198.51.1.0/24',
      user_id: victim.userId,
      count: 4,
    });
    const operators = await rows('OPERATOR_REFUSED');
    const counted = (who: string | null) =>
      operators.filter(({ actor }) => actor === who).reduce((sum, { count }) => sum + count, 0);
    expect([counted('reader'), counted('scanner'), counted(null)]).toEqual([3, 3, 38]);
    const addresses = (who: string | null) =>
      new Set(operators.flatMap((row) => (row.actor === who ? row.address : [])));
    expect(addresses('reader')).toEqual(new Set([address])); // complete, not crowded out by strangers
    expect(addresses(null)).toEqual(
      new Set([null, '203.0.113.0/24', ...attack.slice(0, 9).map((n) => `2001:db8:0:${10 + n}00::/56`)]),
    );
  });
});
