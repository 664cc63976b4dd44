import { describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { verify } from '../../../src/client/index.js';
import { operator, registerAccount, type Account } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { startReceiver } from '../../support/receiver.js';
import { expectFailure, expectSuccess, expectWrong } from '../../support/expect.js';

const it = test.concurrent;

const service = await sharedService();
const account = await registerAccount(service);

const targetAddress = 'https://example.org/hook';
let addresses = 0;
/** Each with an address of its own. */
const settings = () => ({ interests: ['CREATED'], targetAddress: `${targetAddress}/${(addresses += 1)}` });
let names = 0;
const newName = () => `name ${(names += 1)}`;
const ownSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`;
const put = (name: string, body: object = settings(), as: Account = account) =>
  as.call(`/v1/webhooks/by-name/${encodeURIComponent(name)}`, { method: 'PUT', body });
const post = (fields: object, as = account) =>
  as.call('/v1/webhooks', { body: { ...settings(), ...fields } });
const read = async (webhookId: unknown) => (await account.call(`/v1/webhooks/${String(webhookId)}`)).data;
const message = (response: Awaited<ReturnType<typeof put>>) => response.body.error.message;

describe('a name', () => {
  it('is in every response with the webhook, and free again once that is deleted', async () => {
    const own = await registerAccount(service);
    const created = await post({ name: 'orders' }, own);
    expectSuccess(created, 201);
    const path = `/v1/webhooks/${created.data.webhookId}`;
    const patched = await own.call(path, { method: 'PATCH', body: { description: 'x' } });
    const [listed] = (await own.call('/v1/webhooks')).data.webhooks;
    const paused = await operator(service, `/webhooks/${created.data.webhookId}/pause`, { method: 'POST' });
    const shown = [created.data, patched.data, listed, (await own.call(path)).data, paused.data];
    expect(shown.map(({ name }) => name)).toEqual(Array(5).fill('orders'));
    const refused = await post({ name: 'orders' }, own);
    expectFailure(refused, 409);
    expect(message(refused)).toContain('PUT /v1/webhooks/by-name/orders');
    expectSuccess(await own.call(path, { method: 'DELETE' }), 200);
    expectSuccess(await post({ name: 'orders' }, own), 201);
    expectSuccess(await post({ name: 'orders' }, await registerAccount(service)), 201);
  });

  it('does not change: an update ignores it, and says so', async () => {
    const { webhookId, name } = (await post({ name: newName() })).data;
    const body = { name: 'another', description: 'x' };
    const updated = await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body });
    expectSuccess(updated, 200, ['name']);
    expect(updated.data.name).toBe(name);
  });

  it.each(['é', 'Lager Süd', 'a.b:c?d#e%2F"\'', '...', '🚚'.repeat(64), 'x'.repeat(64)])(
    '%s can be given in a body and in a path',
    async (name) => {
      const created = await post({ name });
      expectSuccess(created, 201);
      const same = await put(name, { description: 'x' });
      expectSuccess(same, 200);
      expect(same.data).toMatchObject({ webhookId: created.data.webhookId, name, description: 'x' });
    },
  );

  it.each(['x'.repeat(65), 'a/b', ' a', 'a ', 'a\nb', '\u202Eabc', 'a\u200Bb', '\u0085'])(
    '%j is refused with what a name is',
    async (name) => {
      for (const response of [await post({ name }), await put(name)]) {
        expectWrong(response, ['name']);
        expect(response.body.error.details![0]!.message).toContain('1 to 64 printable characters without /');
      }
    },
  );

  it.each([null, '', ' '])('that is %j is none, as is such an address for e-mails', async (none) => {
    const { data } = await post({ name: none, notifyEmail: none });
    expect(data).toMatchObject({ name: null, notifyEmail: null });
  });

  it('that no path could have is refused', async () => {
    for (const name of ['.', '..', 7]) expectWrong(await post({ name }), ['name']);
    const path = '/v1/webhooks/by-name/%FF';
    expectFailure(await account.call(path, { method: 'PUT', body: settings() }), 400);
  });
});

describe('a webhook that is declared by its name', () => {
  it('is created with its secret, and stays as it is if declared so again', async () => {
    const name = newName();
    const body = { ...settings(), targetAddress: `${targetAddress}?a=b`, headers: { 'X-A': '1' } };
    const created = await put(name, { ...body, ordering: 'NONE', supersede: true, description: 'mine' });
    expectSuccess(created, 201);
    const { secret, ...webhook } = created.data;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(webhook).toMatchObject({ name, ordering: 'NONE', supersede: true, headers: { 'X-A': '••••' } });
    const audit = `/audit?webhookId=${webhook.webhookId}`;
    for (const same of [body, { headers: { 'X-A': '••••' } }, {}]) {
      const again = await put(name, same);
      expectSuccess(again, 200);
      expect(again.data).toEqual(webhook);
    }
    expect((await operator(service, audit)).data.entries).toMatchObject([{ action: 'WEBHOOK_CREATED' }]);
    const changed = await put(name, { interests: ['LOST', 'LOST'], headers: { 'X-A': '2' } });
    expectSuccess(changed, 200);
    expect(changed.data).toEqual({ ...webhook, interests: ['LOST'], updatedAt: changed.data.updatedAt });
    expect(Date.parse(changed.data.updatedAt as string)).toBeGreaterThan(
      Date.parse(webhook.updatedAt as string),
    );
    const [entry] = (await operator(service, audit)).data.entries;
    expect(entry).toMatchObject({ action: 'WEBHOOK_UPDATED', fields: ['interests', 'headers'] });
  });

  it('keeps its status: a pause by hand outlives a start of the program', async () => {
    const name = newName();
    const { webhookId } = (await put(name)).data;
    const path = `/v1/webhooks/${webhookId}`;
    await account.call(path, { method: 'PATCH', body: { status: 'PAUSED' } });
    const declared = await put(name, { ...settings(), status: 'ACTIVE', description: 'x' });
    expectSuccess(declared, 200, ['status']);
    expect(declared.data).toMatchObject({ status: 'PAUSED', description: 'x' });
  });

  it('needs its states and address if it is new, and the values of its headers', async () => {
    const name = newName();
    expectWrong(await put(name, {}), ['interests', 'targetAddress']);
    const misspelt = await put(name, { interest: ['*'], headers: { 'X-A': '••••', 'X-B': '1' } });
    expectWrong(misspelt, ['interests', 'targetAddress', 'headers.X-A', 'interest']);
    const details = misspelt.body.error.details!.map(({ message: words }) => words);
    expect(details[0]).toBe('is required to create the webhook: you have none of this name');
    expect(details[3]).toBe('is not a field of this request; did you mean interests?');
    expectFailure(await account.call(`/v1/webhooks/by-name/${newName()}`, { method: 'PUT' }), 400);
  });

  it('with wrong fields is refused with every one of them', async () => {
    const wrong = { interests: ['created'], targetAddress: 'ftp://x', ordering: 1, headers: { Host: 'a' } };
    const paths = ['interests[0]', 'targetAddress', 'ordering', 'headers.Host', 'secret'];
    for (const name of [newName(), (await post({ name: newName() })).data.name as string])
      expectWrong(await put(name, { ...wrong, secret: 'whsec_' }), paths);
  });

  it('that moves to another origin gets none of its headers without their values', async () => {
    const name = newName();
    expectSuccess(await put(name, { ...settings(), headers: { 'X-A': '1' } }), 201);
    const moved = { targetAddress: 'https://elsewhere.example.org/' };
    expectWrong(await put(name, moved), ['headers.X-A']);
    expectSuccess(await put(name, { ...moved, headers: { 'X-A': '1' } }), 200);
  });

  it('signs with the secret that its program gave it, which no response shows', async () => {
    const receiver = await startReceiver();
    for (const bytes of [24, 25, 64]) {
      const name = newName();
      const secret = ownSecret(bytes);
      const body = { ...settings(), targetAddress: `${receiver.url}?bytes=${bytes}`, secret };
      const created = await put(name, body);
      expectSuccess(created, 201);
      const again = await put(name, body);
      expectSuccess(again, 200);
      expect(again.data).toEqual(created.data);
      expect(JSON.stringify(created.body)).not.toContain('secret');
      await account.call(`/v1/webhooks/${created.data.webhookId}/test`, { method: 'POST' });
      const { headers, body: sent } = receiver.received.at(-1)!;
      expect(verify(headers, sent, secret)).toMatchObject({ tracking_id: 'TEST' });
    }
    await receiver.close();
  });

  it('has its secret changed by rotating only: another one is refused, and changes nothing', async () => {
    const name = newName();
    const secret = ownSecret();
    const { webhookId } = (await put(name, { ...settings(), secret })).data;
    const other = await put(name, { secret: ownSecret(), description: 'x' });
    expectFailure(other, 409);
    expect(message(other)).toContain(`POST /v1/webhooks/${webhookId}/rotate-secret`);
    expect((await read(webhookId)).description).toBe('');
    const rotated = await account.call(`/v1/webhooks/${webhookId}/rotate-secret`, { method: 'POST' });
    expectFailure(await put(name, { secret }), 409);
    expectSuccess(await put(name, { secret: rotated.data.secret }), 200);
  });

  it.each([
    '',
    'secret',
    ownSecret(23),
    ownSecret(65),
    ownSecret().slice(6),
    ownSecret(25).slice(0, -2),
    7,
    null,
  ])('cannot have %j as its secret', async (secret) =>
    expectWrong(await put(newName(), { ...settings(), secret }), ['secret']),
  );
});
