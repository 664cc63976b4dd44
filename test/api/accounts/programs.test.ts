import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import {
  fromPortal,
  newProgram,
  operator,
  programAt,
  registerAccount,
  registerWebhook,
  request,
  sampleOrder,
  type Program,
} from '../../support/client.js';
import { expectFailure, expectSuccess, expectWrong, uuidForm } from '../../support/expect.js';
import { sharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';

const service = await sharedService();
const account = await registerAccount(service);
const other = await registerAccount(service, 'other@example.com');
const unknownId = '018f0000-0000-7000-8000-000000000000';
const hook = { interests: ['*'], targetAddress: 'https://example.com/hook' };

const rowOf = async ({ tokenId }: Program) =>
  (await service.sql('select t.*, xmin from program_tokens t where token_id = $1', [tokenId]))[0]!;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('a token of a program', () => {
  test('is shown once, and stored as a hash only', async () => {
    const body = { name: ' Shop ', scopes: ['read', 'orders', 'read'] };
    const made = await account.call('/v1/tokens', { body });
    expectSuccess(made, 201);
    const { token, ...shown } = made.data;
    expect(shown).toEqual({
      tokenId: expect.stringMatching(uuidForm),
      name: 'Shop',
      scopes: ['orders', 'read'],
      webhookId: null,
      createdAt: expect.any(String),
      expiresAt: null,
      lastUsedOn: null,
    });
    expect(token).toMatch(/^phk_[0-9A-Za-z]{49}$/);
    const list = await account.call('/v1/tokens');
    expectSuccess(list, 200);
    expect(list.data.tokens).toContainEqual(shown);
    expect(JSON.stringify(list.body)).not.toContain(token);
    const [row] = await service.sql<{ all: string; token_hash: Buffer }>(
      'select t::text as all, token_hash from program_tokens t where token_id = $1',
      [shown.tokenId],
    );
    expect(row!.all).not.toContain(token.slice(4));
    expect(row!.token_hash).toEqual(
      createHash('sha256')
        .update(token as string)
        .digest(),
    );
  });

  test('places orders, with its account key and without', async () => {
    const { call } = await newProgram(service, account, { scopes: ['orders'] });
    for (const query of ['', `?key=${account.accountKey}`]) {
      const placed = await call(`/v1/shipments${query}`, { body: sampleOrder() });
      expectSuccess(placed, 201);
      expectSuccess(await account.call(`/v1/shipment-tracking/${placed.data.trackingId}`), 200);
    }
    expectSuccess(await call('/v1/shipments', { headers: { cookie: 'parcelhook-session=x' } }), 200);
  });

  test("is 403 with another shipper's key, and 401 with one that is none", async () => {
    const { call } = await newProgram(service, account, { scopes: ['read'] });
    expectFailure(await call(`/v1/webhooks?key=${other.accountKey}`), 403);
    for (const key of ['', 'ak_unknown', '%00', `${account.accountKey}x`, `${account.accountKey}&key=x`])
      expectFailure(await call(`/v1/webhooks?key=${key}`), 401);
  });

  test('is 401 if it was cut off, which the message says, or is unknown or in a cookie', async () => {
    const { token } = await newProgram(service, account, { scopes: ['read'] });
    const changed = (token[9] === 'A' ? 'B' : 'A') + token.slice(10);
    for (const wrong of [token.slice(0, -1), token.slice(0, 9) + changed, 'phk_', `${token}0`]) {
      const refused = await programAt(service, wrong)('/v1/webhooks');
      expectFailure(refused, 401);
      expect(refused.body.error.message).toContain('last six characters');
    }
    const { tokenId, token: revoked } = await newProgram(service, account, { scopes: ['read'] });
    expectSuccess(await account.call(`/v1/tokens/${tokenId}`, { method: 'DELETE' }), 200);
    expectFailure(await programAt(service, revoked)('/v1/webhooks'), 401);
    const headers = { ...fromPortal, cookie: `parcelhook-session=${token}` };
    expectFailure(await request(`${service.url}/v1/webhooks`, { headers }), 401);
    expectFailure(await request(`${service.url}/operator/v1/status`, { headers: bearer(token) }), 401);
  });

  test('makes no token, revokes none, and opens no session', async () => {
    const { call, tokenId, token } = await newProgram(service, account, {
      scopes: ['orders', 'webhooks', 'read'],
    });
    const before = (await account.call('/v1/tokens')).data;
    const refused = await call('/v1/tokens', { body: { name: 'Another', scopes: ['read'] } });
    expectFailure(refused, 403);
    expect(refused.body.error.message).toContain('user');
    expectFailure(await call(`/v1/tokens/${tokenId}`, { method: 'DELETE' }), 403);
    expectFailure(await call(`/v1/login?key=${account.accountKey}`), 401);
    expect((await call('/v1/session', { headers: fromPortal })).data).toBeNull();
    const { accountKey: key, email } = account;
    const session = { body: { key, email, password: token }, headers: fromPortal };
    expectFailure(await call('/v1/session', session), 401);
    const after = (await account.call('/v1/tokens')).data;
    expect(after.tokens).toHaveLength(before.tokens.length);
  });

  test('is revoked at once by this process; revoking it again is 404', async () => {
    const { call, tokenId } = await newProgram(service, account, { scopes: ['read'] });
    expectSuccess(await call('/v1/webhooks'), 200);
    const path = `/v1/tokens/${tokenId}`;
    expectFailure(await other.call(path, { method: 'DELETE' }), 404);
    expectSuccess(await call('/v1/webhooks'), 200);
    expect((await account.call(path, { method: 'DELETE' })).data).toEqual({ tokenId });
    expectFailure(await call('/v1/webhooks'), 401);
    for (const id of [tokenId, unknownId, 'x'])
      expectFailure(await account.call(`/v1/tokens/${id}`, { method: 'DELETE' }), 404);
  });

  test('ends when it expires', async () => {
    const expiresAt = new Date(Date.now() + 1_000).toISOString();
    const { call, tokenId } = await newProgram(service, account, { scopes: ['read'], expiresAt });
    const isOver = async () => {
      const { httpStatus } = await call('/v1/webhooks');
      expect([200, 401]).toContain(httpStatus);
      return httpStatus === 401;
    };
    await until('it has expired', isOver);
    expect(Date.now()).toBeGreaterThanOrEqual(new Date(expiresAt).getTime() - 50);
    const { tokens } = (await account.call('/v1/tokens')).data;
    const shown = (tokens as { tokenId: string; expiresAt: string }[]).find((one) => one.tokenId === tokenId);
    expect(new Date(shown!.expiresAt)).toEqual(new Date(expiresAt));
  });

  test('has the day of its last use, which is written once', async () => {
    const program = await newProgram(service, account, { scopes: ['read'] });
    const used = await program.call('/v1/webhooks');
    const day = new Date(used.body.timestamp).toISOString().slice(0, 10);
    const { tokens } = (await account.call('/v1/tokens')).data;
    expect(tokens).toContainEqual(expect.objectContaining({ tokenId: program.tokenId, lastUsedOn: day }));
    const before = await rowOf(program);
    for (let requests = 0; requests < 20; requests += 1) await program.call('/v1/webhooks');
    expect(await rowOf(program)).toEqual(before);
  });

  test('a bad request names every wrong field', async () => {
    const make = (body: unknown) => account.call('/v1/tokens', { body });
    expectWrong(await make({}), ['name', 'scopes']);
    expectWrong(await make({ name: ' ', scopes: [], webhookId: 'x', expiresAt: 'x' }), [
      ...['name', 'scopes', 'webhookId', 'expiresAt'],
    ]);
    const past = { name: 'x'.repeat(101), scopes: ['order', 'read'], expiresAt: Date.now() - 1_000 };
    const refused = await make(past);
    expectWrong(refused, ['name', 'scopes[0]', 'expiresAt']);
    expect(JSON.stringify(refused.body)).toContain('did you mean orders?');
    expectWrong(await make({ name: 7, scopes: ['orders'], webhookId: unknownId }), ['name', 'scopes']);
    const { webhookId } = await registerWebhook(other, 'https://example.com/');
    for (const id of [webhookId, unknownId])
      expectWrong(await make({ name: 'x', scopes: ['webhooks'], webhookId: id }), ['webhookId']);
    expectWrong(await make({ name: 'x', scope: ['read'] }), ['scope', 'scopes']);
  });

  test('a shipper has at most fifty; those that have expired make room', async () => {
    const crowded = await registerAccount(service, 'crowded@example.com');
    const make = () => crowded.call('/v1/tokens', { body: { name: 'One', scopes: ['read'] } });
    await service.sql(
      `insert into program_tokens (token_id, shipper_id, token_hash, name, scopes)
       select gen_random_uuid(), $1::uuid, sha256(convert_to($1::uuid::text || n, 'UTF8')), 'Older', '{read}' from generate_series(1, 48) n`,
      [crowded.shipperId],
    );
    const made = await Promise.all(Array.from({ length: 5 }, make));
    expect(made.map(({ httpStatus }) => httpStatus).sort()).toEqual([201, 201, 409, 409, 409]);
    const { tokens, nextCursor } = (await crowded.call('/v1/tokens?limit=30')).data;
    expect(tokens).toHaveLength(30);
    const rest = (await crowded.call(`/v1/tokens?limit=30&cursor=${nextCursor}`)).data;
    expect([rest.tokens.length, rest.nextCursor]).toEqual([20, null]);
    await service.sql('update program_tokens set expires_at = now() where token_id = $1', [
      tokens[0].tokenId,
    ]);
    expectSuccess(await make(), 201);
    expectFailure(await make(), 409);
  });

  test('the audit log has who made and revoked it, and what it did', async () => {
    const { call, tokenId } = await newProgram(service, account, { scopes: ['webhooks'] });
    const created = await call('/v1/webhooks', { body: hook });
    expectSuccess(created, 201);
    await account.call(`/v1/tokens/${tokenId}`, { method: 'DELETE' });
    const { data } = await operator(service, `/audit?shipperId=${account.shipperId}&limit=250`);
    const user = { kind: 'USER', name: account.userId, address: expect.any(String) };
    const entries = (data.entries as { tokenId: string; webhookId: string; action: string }[]).filter(
      (one) => one.tokenId === tokenId || one.webhookId === created.data.webhookId,
    );
    expect(entries).toMatchObject([
      { action: 'TOKEN_REVOKED', actor: user, tokenId },
      { action: 'WEBHOOK_CREATED', actor: { kind: 'TOKEN', name: tokenId }, tokenId: null },
      { action: 'TOKEN_CREATED', actor: user, tokenId },
    ]);
    const own = (await operator(service, `/audit?actor=${tokenId}`)).data.entries;
    expect(own).toMatchObject([{ action: 'WEBHOOK_CREATED' }]);
  });
});
