import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OpenApiDocument } from '../../../src/http/openapi/schemas.js';
import {
  newProgram,
  placeOrder,
  registerAccount,
  registerWebhook,
  sampleOrder,
  type Account,
  type Program,
} from '../../support/client.js';
import { untilFound, deliveriesOf } from '../../support/deliveries.js';
import { expectFailure, expectSuccess } from '../../support/expect.js';
import { operationsOf } from '../../support/openapi.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { sharedService } from '../../support/shared-service.js';

const service = await sharedService();
const account = await registerAccount(service);
const unknownId = '018f0000-0000-7000-8000-000000000000';
const hook = { interests: ['*'], targetAddress: 'https://example.com/hook' };

/** The scopes that each operation takes; an operation that is not here takes no token of a program. */
const taken: Record<string, string> = {
  integrateOrder: 'orders',
  simulateShipment: 'orders',
  cancelShipment: 'orders',
  listShipments: 'orders read',
  getOrder: 'orders read',
  trackShipment: 'orders read',
  listStates: 'orders webhooks read',
  listEvents: 'read',
  listTokens: 'read',
  listOwnUsers: 'read',
  listOwnAudit: 'read',
  getEgress: 'webhooks read',
  listWebhooks: 'webhooks read',
  createWebhook: 'webhooks',
  declareWebhook: 'webhooks',
  getWebhook: 'webhooks read',
  updateWebhook: 'webhooks',
  deleteWebhook: 'webhooks',
  rotateSecret: 'webhooks',
  endEarlierSecrets: 'webhooks',
  testWebhook: 'webhooks',
  getWebhookStats: 'webhooks read',
  listReplays: 'webhooks read',
  replayWebhook: 'webhooks',
  getReplay: 'webhooks read',
  cancelReplay: 'webhooks',
  listDeliveries: 'webhooks read',
  getDelivery: 'webhooks read',
  redeliver: 'webhooks',
};

describe('every operation of the document', () => {
  let programs: Record<string, Program>;
  beforeAll(async () => {
    programs = Object.fromEntries(
      await Promise.all(
        ['orders', 'webhooks', 'read'].map(
          async (scope) => [scope, await newProgram(service, account, { scopes: [scope] })] as const,
        ),
      ),
    );
  });

  test('takes exactly the scopes that it names, and the refusal names those that are due', async () => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
    const operations = [...operationsOf(document).values()].filter(({ path }) => path.startsWith('/v1/'));
    const takingTokens = operations.filter(({ operation: { security } }) =>
      security.some((scheme) => 'programToken' in scheme),
    );
    expect(takingTokens.map(({ operation }) => operation.operationId).sort()).toEqual(
      Object.keys(taken).sort(),
    );
    for (const { method, path, operation } of operations) {
      const { operationId, security, description = '' } = operation;
      if (!security.some((scheme) => 'accessToken' in scheme)) continue;
      const due = taken[operationId]?.split(' ') ?? [];
      if (due.length > 0)
        expect(description).toContain(`needs the scope ${due.map((one) => `\`${one}\``).join(' or ')}.`);
      for (const [scope, { call }] of Object.entries(programs)) {
        // An unknown parameter is refused after the token is accepted, so nothing is done.
        const url = `${path.replace(/\{\w+\}/g, unknownId)}?unknown=1`;
        const response = await call(url, { method: method.toUpperCase() });
        const what = { operationId, scope };
        expect({ ...what, httpStatus: response.httpStatus }).toEqual({
          ...what,
          httpStatus: due.includes(scope) ? 400 : 403,
        });
        if (response.httpStatus === 403)
          expect(response.body.error.message).toContain(due.length > 0 ? due.join(' or ') : 'user');
      }
    }
  });

  test('several scopes allow what each of them does', async () => {
    const { call } = await newProgram(service, account, { scopes: ['orders', 'webhooks'] });
    expectSuccess(await call('/v1/shipments', { body: sampleOrder() }), 201);
    expectSuccess(await call('/v1/webhooks', { body: hook }), 201);
    expectFailure(await call('/v1/events'), 403);
  });
});

describe('a token for one webhook', () => {
  let receiver: Receiver;
  let owner: Account;
  let ids: Record<'own' | 'others', { webhookId: string; deliveryId: string; replayId: string }>;
  let program: Program;
  let reader: Program;

  beforeAll(async () => {
    receiver = await startReceiver();
    owner = await registerAccount(service, 'two-webhooks@example.com');
    const made = async () => {
      const { webhookId } = await registerWebhook(owner, receiver.url);
      return webhookId;
    };
    const [own, others] = [await made(), await made()];
    await placeOrder(owner);
    const of = async (webhookId: string) => {
      const { deliveryId } = await untilFound(async () =>
        (await deliveriesOf(owner, webhookId)).find(({ status }) => status === 'SUCCEEDED'),
      );
      const range = { from: Date.now() - 60_000, to: Date.now() };
      const { data } = await owner.call(`/v1/webhooks/${webhookId}/replay`, { body: range });
      return { webhookId, deliveryId, replayId: data.replayId as string };
    };
    ids = { own: await of(own), others: await of(others) };
    program = await newProgram(service, owner, { scopes: ['webhooks'], webhookId: own });
    reader = await newProgram(service, owner, { scopes: ['read'], webhookId: own });
  });
  afterAll(() => receiver?.close());

  const paths = ({ webhookId, deliveryId, replayId }: (typeof ids)['own']) => [
    `/v1/webhooks/${webhookId}`,
    `/v1/webhooks/${webhookId}/stats`,
    `/v1/webhooks/${webhookId}/replays`,
    `/v1/deliveries/${deliveryId}`,
    `/v1/deliveries?webhookId=${webhookId}`,
    `/v1/replays/${replayId}`,
  ];

  test('declares that one by its name, and no other', async () => {
    const named = await owner.call('/v1/webhooks/by-name/shop', { method: 'PUT', body: hook });
    expectSuccess(named, 201);
    const { webhookId } = named.data;
    const { call } = await newProgram(service, owner, { scopes: ['webhooks'], webhookId });
    const declare = (name: string) =>
      call(`/v1/webhooks/by-name/${name}`, { method: 'PUT', body: { ...hook, description: 'Shop' } });
    const changed = await declare('shop');
    expectSuccess(changed, 200);
    expect(changed.data).toMatchObject({ webhookId, description: 'Shop' });
    expectFailure(await declare('another'), 403);
  });

  test('reads and changes that one, and is 403 for any other', async () => {
    for (const { call } of [program, reader]) {
      for (const path of paths(ids.own)) expectSuccess(await call(path), 200);
      for (const path of paths(ids.others)) {
        const refused = await call(path);
        expectFailure(refused, 403);
        expect(refused.body.error.message).toContain(ids.own.webhookId);
      }
    }
    const { own, others } = ids;
    const writes = ({ webhookId, deliveryId, replayId }: typeof own) =>
      [
        ['PATCH', `/v1/webhooks/${webhookId}`, { description: 'changed' }],
        ['POST', `/v1/webhooks/${webhookId}/test`, undefined],
        ['POST', `/v1/webhooks/${webhookId}/rotate-secret`, undefined],
        ['POST', `/v1/deliveries/${deliveryId}/redeliver`, undefined],
        ['POST', `/v1/replays/${replayId}/cancel`, undefined],
      ] as const;
    for (const [method, path, body] of writes(own)) {
      const options = { method, ...(body && { body }) };
      expect((await program.call(path, options)).httpStatus).toBeLessThan(300);
      expectFailure(await reader.call(path, options), 403);
    }
    for (const [method, path, body] of [
      ...writes(others),
      ['DELETE', `/v1/webhooks/${others.webhookId}`] as const,
    ])
      expectFailure(await program.call(path, { method, ...(body && { body }) }), 403);
  });

  test('lists nothing of the others', async () => {
    for (const { call } of [program, reader]) {
      const { webhooks } = (await call('/v1/webhooks?include=health,stats')).data;
      expect(webhooks).toMatchObject([{ webhookId: ids.own.webhookId }]);
      const { deliveries } = (await call('/v1/deliveries')).data;
      expect(deliveries.length).toBeGreaterThan(0);
      for (const { webhookId } of deliveries) expect(webhookId).toBe(ids.own.webhookId);
    }
  });

  test('is 404 for what does not exist, and 403 for all that is of no webhook', async () => {
    for (const path of [`/v1/deliveries/${unknownId}`, '/v1/deliveries/x', `/v1/replays/${unknownId}`])
      expectFailure(await program.call(path), 404);
    for (const path of ['/v1/shipments', '/v1/events', '/v1/tokens', '/v1/users', '/v1/audit'])
      for (const { call } of [program, reader]) expectFailure(await call(path), 403);
    expectFailure(await program.call('/v1/webhooks', { body: hook }), 403);
    for (const path of ['/v1/states', '/v1/egress']) expectSuccess(await program.call(path), 200);
  });
});
