import { describe, expect, test } from '@jest/globals';
import { registerAccount, registerWebhook, type ApiResponse } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectSuccess, expectWrong } from '../../support/expect.js';

const it = test.concurrent;

const service = await sharedService();
const account = await registerAccount(service);

let count = 0;
const newAddress = () => `https://example.org/${(count += 1)}`;
const warningsOf = ({ body }: ApiResponse) =>
  (body as { warnings?: { path: string; message: string }[] }).warnings ?? [];

/** The ways to give a webhook its settings. */
const ways: [string, (body: object, as?: typeof account) => Promise<ApiResponse>][] = [
  [
    'POST',
    (body, as = account) =>
      as.call('/v1/webhooks', { body: { interests: ['*'], targetAddress: newAddress(), ...body } }),
  ],
  [
    'PATCH',
    async (body, as = account) => {
      const { webhookId } = await registerWebhook(as, newAddress());
      return as.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body });
    },
  ],
  [
    'PUT of a new name',
    (body, as = account) =>
      as.call(`/v1/webhooks/by-name/new-${(count += 1)}`, {
        method: 'PUT',
        body: { interests: ['*'], targetAddress: newAddress(), ...body },
      }),
  ],
  [
    'PUT of a known name',
    async (body, as = account) => {
      const name = `known-${(count += 1)}`;
      await registerWebhook(as, newAddress(), { name });
      return as.call(`/v1/webhooks/by-name/${name}`, { method: 'PUT', body });
    },
  ],
];

describe.each(ways)('%s', (_, send) => {
  it('refuses an interest within two letters of a state, and names the state', async () => {
    const wrong = [
      ['DELIVERD', 'DELIVERED'],
      ['DELIVERY_FALED', 'DELIVERY_FAILED'],
      ['PICKED_PU', 'PICKED_UP'],
      ['PICKEDUP', 'PICKED_UP'],
      ['RETURN', 'RETURNED'],
      ['LO', 'LOST'],
      ['CANCELED', 'CANCELLED'],
      ['WEBHOOK_FAILNG', 'WEBHOOK_FAILING'],
    ] as const;
    const written = ['x y', 'Deliverd', ' in-transit '];
    const response = await send({ interests: ['CREATED', ...wrong.map(([name]) => name), ...written] });
    expectWrong(
      response,
      [...wrong, ...written].map((_name, index) => `interests[${index + 1}]`),
    );
    const messages = response.body.error.details!.map(({ message }) => message);
    expect(messages.slice(0, wrong.length)).toEqual(
      wrong.map(([, state]) => `is not a state; did you mean ${state}?`),
    );
    expect(messages.slice(wrong.length).map((message) => message.split('; ')[1])).toEqual(
      ['X_Y', 'DELIVERED', 'IN_TRANSIT'].map((name) => `did you mean ${name}?`),
    );
  });

  it('keeps any other name, and lists it as unknown and in a warning', async () => {
    const interests = ['CREATED', 'CUSTOMS_HOLD', 'DELIVERED', 'HOLD', 'CUSTOMS_HOLD', '*'];
    const response = await send({ interests, colour: 'red' });
    const httpStatus = response.httpStatus as 200 | 201;
    expectSuccess(response, httpStatus, ['colour', 'interests[1]', 'interests[3]']);
    expect(response.data.interests).toEqual(interests.filter((name, at) => at !== 4 && name));
    expect(response.data.unknownInterests).toEqual(['CUSTOMS_HOLD', 'HOLD']);
    expect(warningsOf(response)[1]!.message).toMatch(/^CUSTOMS_HOLD is not a state today; it is kept/);
    const read = await account.call(`/v1/webhooks/${String(response.data.webhookId)}`);
    expect(read.data.unknownInterests).toEqual(['CUSTOMS_HOLD', 'HOLD']);
  });

  it('warns of an address that other webhooks of the account have, and names the first', async () => {
    const own = await registerAccount(service);
    const address = 'https://example.org/hook?token=1';
    await registerWebhook(await registerAccount(service), address);
    for (const other of ['https://example.org/hook?token=2', 'https://example.org/hook'])
      await registerWebhook(own, other);
    expect(warningsOf(await send({ targetAddress: address }, own))).toEqual([]);
    const first = (await own.call('/v1/webhooks')).data.webhooks as { webhookId: string; name: string }[];
    const { webhookId, name } = first.at(-1)!;
    const again = await send({ targetAddress: address.replace('example', 'EXAMPLE') }, own);
    expectSuccess(again, again.httpStatus as 200 | 201, ['targetAddress']);
    expect(again.data.webhookId).not.toBe(webhookId);
    expect(warningsOf(again)[0]!.message).toBe(
      `is also the address of your webhook ${name ? `${name} (${webhookId})` : webhookId}: it gets the notifications of each`,
    );
    expect(warningsOf(await send({ targetAddress: address }, own))[0]!.message).toContain(
      `${webhookId}${name ? ')' : ''} and 1 more:`,
    );
    await own.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { description: 'Shop in Oslo' } });
    expect(warningsOf(await send({ targetAddress: address }, own))[0]!.message).toContain(
      `your webhook ${name || 'Shop in Oslo'} (${webhookId}) and `,
    );
  });
});

test('a change of something else warns of nothing', async () => {
  const address = newAddress();
  await registerWebhook(account, address);
  const { webhookId } = await registerWebhook(account, address, { interests: ['HOLD'] });
  const body = { description: 'x' };
  expectSuccess(await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body }), 200);
});

test('a token for one webhook is told of no other', async () => {
  const address = newAddress();
  const { webhookId } = await registerWebhook(account, address);
  await registerWebhook(account, address);
  const { data } = await account.call('/v1/tokens', {
    body: { name: 'deploy', scopes: ['webhooks'], webhookId },
  });
  const response = await fetch(`${service.url}/v1/webhooks/${webhookId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${String(data.token)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ targetAddress: address }),
  });
  expect(response.status).toBe(200);
  expect(await response.json()).not.toHaveProperty('warnings');
});
