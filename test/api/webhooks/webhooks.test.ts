import { describe, expect, test } from '@jest/globals';
import { readAll, registerAccount } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectFailure, expectSuccess, expectWrong, offsetForm, uuidForm } from '../../support/expect.js';

const it = test.concurrent;

/** Shared by all tests except those that list its webhooks. */

const service = await sharedService();
const account = await registerAccount(service);

const targetAddress = 'https://example.org/hook';
let addresses = 0;
/** Each with an address of its own. */
const create = (fields: object = {}, as = account) =>
  as.call('/v1/webhooks', {
    body: { interests: ['CREATED'], targetAddress: `${targetAddress}/${(addresses += 1)}`, ...fields },
  });
const patch = (webhookId: unknown, body: object, as = account) =>
  as.call(`/v1/webhooks/${String(webhookId)}`, { method: 'PATCH', body });
const fields =
  'webhookId interests targetAddress status disabledReason name ordering supersede headers description maxPerSecond notifyEmail notifyEmailConfirmed createdAt updatedAt'.split(
    ' ',
  );
const unknownId = '018f0000-0000-7000-8000-000000000000';

describe('creating a webhook', () => {
  it('returns 201 with every field, its default, and a Standard Webhooks secret', async () => {
    const response = await create({ targetAddress });
    expectSuccess(response, 201);
    expect(response.data).toEqual({
      webhookId: expect.stringMatching(uuidForm),
      interests: ['CREATED'],
      targetAddress,
      status: 'ACTIVE',
      disabledReason: null,
      name: null,
      pausedBy: null,
      ordering: 'SHIPMENT',
      supersede: false,
      headers: {},
      description: '',
      maxPerSecond: null,
      notifyEmail: null,
      notifyEmailConfirmed: null,
      createdAt: expect.stringMatching(offsetForm),
      updatedAt: expect.stringMatching(offsetForm),
      unknownInterests: [],
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    expect(Object.keys(response.data).slice(0, fields.length)).toEqual(fields);
    expect(Math.abs(Date.parse(response.data.createdAt as string) - Date.now())).toBeLessThan(60_000);
  });

  it('accepts every optional field', async () => {
    const optional = {
      status: 'PAUSED',
      ordering: 'NONE',
      supersede: true,
      headers: { 'X-Tenant': 'a', Authorization: 'Bearer of the receiver' },
      description: 'Ünser Lager',
      maxPerSecond: 1_000,
    };
    const response = await create(optional);
    expectSuccess(response, 201);
    const shown = { ...optional, headers: { 'X-Tenant': '••••', Authorization: '••••' } };
    expect(response.data).toMatchObject(shown);
  });

  it('description and name may be null for none; no other field may be null', async () => {
    const response = await create({ description: null, name: null });
    expectSuccess(response, 201);
    expect(response.data).toMatchObject({ description: '', name: null });
    const others = ['status', 'ordering', 'supersede', 'headers'];
    expectWrong(await create(Object.fromEntries(others.map((name) => [name, null]))), others);
  });

  it('the secret is never shown again, and is encrypted at rest', async () => {
    const own = await registerAccount(service);
    const { data } = await create({}, own);
    const secret = data.secret as string;
    const responses = [
      await own.call('/v1/webhooks'),
      await own.call(`/v1/webhooks/${data.webhookId}`),
      await patch(data.webhookId, { description: 'x' }, own),
    ];
    for (const response of responses) {
      expectSuccess(response, 200);
      expect(JSON.stringify(response.body)).not.toMatch(/"secret"|whsec_/);
      expect(JSON.stringify(response.body)).not.toContain(secret);
    }
    const rows = JSON.stringify(await service.sql('select webhooks::text from webhooks'));
    expect(rows).not.toContain(secret.slice('whsec_'.length, -1));
  });

  it('duplicate interests collapse, * means all, up to 64 names', async () => {
    expect((await create({ interests: ['CREATED', 'LOST', 'CREATED'] })).data.interests).toEqual([
      'CREATED',
      'LOST',
    ]);
    expect((await create({ interests: ['*'] })).data.unknownInterests).toEqual([]);
    const names = Array.from({ length: 64 }, (_, n) => `STATE_${n}`);
    expect((await create({ interests: [...names, 'STATE_0'] })).data.interests).toEqual(names);
    expectWrong(await create({ interests: [...names, 'STATE_64'] }), ['interests']);
  });

  it.each<[string, object, string]>([
    ['10,000 wrong interests', { interests: Array(9_900).fill('x y') }, 'interests'],
    ['1,001 interests, doubles included', { interests: Array(1_001).fill('CREATED') }, 'interests'],
    [
      '5,000 wrong headers',
      { headers: Object.fromEntries(Array.from({ length: 4_900 }, (_, n) => [`a b${n}`, 1])) },
      'headers',
    ],
  ])('%s get one detail, because none of them is checked', async (_, body, path) => {
    const created = await create(body);
    expectWrong(created, [path]);
    expect(created.body.error.details).toHaveLength(1);
    const { webhookId } = (await create()).data;
    expect((await patch(webhookId, body)).body.error.details).toEqual(created.body.error.details);
  });

  it('the same address may be registered twice, as two webhooks', async () => {
    const address = { targetAddress: `${targetAddress}/twice` };
    const [first, second] = [await create(address), await create(address)];
    expect(second.data.webhookId).not.toBe(first.data.webhookId);
    expect(second.data.secret).not.toBe(first.data.secret);
  });

  it.each<[string, object, string[]]>([
    ['nothing', { interests: undefined, targetAddress: undefined }, ['interests', 'targetAddress']],
    ['null', { interests: null, targetAddress: null }, ['interests', 'targetAddress']],
    ['text for a list', { interests: 'CREATED' }, ['interests']],
    ['no interest', { interests: [] }, ['interests']],
    [
      'bad names',
      { interests: ['created', 'A', '', '1A', 'A-B', 'A'.repeat(65), 7, null] },
      [0, 2, 3, 4, 5, 6, 7].map((n) => `interests[${n}]`),
    ],
    ['a relative address', { targetAddress: '/hook' }, ['targetAddress']],
    ['another scheme', { targetAddress: 'ftp://example.org' }, ['targetAddress']],
    ['a user in the address', { targetAddress: 'https://a:b@example.org' }, ['targetAddress']],
    ['2,049 characters', { targetAddress: `https://example.org/${'a'.repeat(2029)}` }, ['targetAddress']],
    [
      'all optional fields wrong',
      {
        status: 'active',
        ordering: 'none',
        supersede: 'true',
        headers: 'x',
        description: 1,
        maxPerSecond: 0,
      },
      ['status', 'ordering', 'supersede', 'headers', 'description', 'maxPerSecond'],
    ],
    ['a list of headers', { headers: [] }, ['headers']],
    ['a long description', { description: 'x'.repeat(1_001) }, ['description']],
  ])('%s returns 400 naming every wrong field', async (_, body, paths) => {
    const own = await registerAccount(service);
    expectWrong(await create(body, own), paths);
    expect((await own.call('/v1/webhooks')).data.webhooks).toEqual([]);
  });

  it.each([...'"`|'])(
    'an address with %s in its path or query is refused with how to write it, because it is not a URI',
    async (character) => {
      const encoded = encodeURIComponent(character);
      for (const start of ['https://example.com/', 'https://example.com/?', 'https://example.com?a=/']) {
        const refused = await create({ targetAddress: start + character });
        expectWrong(refused, ['targetAddress']);
        expect(refused.body.error.details![0]!.message).toMatch(`percent-encode it as ${encoded}.`);
        expectSuccess(await create({ targetAddress: start + encoded }), 201);
      }
    },
  );

  it.each(['/%', '/a%zz', '/?%2'])('an address with a loose %% (%s) is refused', async (path) => {
    expectWrong(await create({ targetAddress: `https://example.com${path}` }), ['targetAddress']);
  });

  it('no header of the service or of HTTP can be set, nor one with an invalid name or value', async () => {
    const own = 'Content-Type host Webhook-Signature parcelhook-attempt User-Agent Content-Length'.split(' ');
    for (const name of [...own, 'a b', 'a:', 'a\r\nb', 'ü'])
      expectWrong(await create({ headers: { [name]: 'x' } }), [`headers.${name}`]);
    expectFailure(await create({ headers: { '': 'x' } }), 400);
    for (const value of ['a\r\nX-Injected: 1', 'a\n', 'a\0', 'ü', 'x'.repeat(1_001), 1, null])
      expectWrong(await create({ headers: { 'X-A': value } }), ['headers.X-A']);
  });
});

describe('updating a webhook', () => {
  it.each<[string, object, object?]>([
    ['interests', { interests: ['LOST'] }],
    ['targetAddress', { targetAddress: 'https://example.org/other' }],
    ['status', { status: 'PAUSED' }],
    ['ordering', { ordering: 'NONE' }],
    ['supersede', { supersede: true }],
    ['headers', { headers: { 'X-B': '2' } }, { headers: { 'X-B': '••••' } }],
    ['description', { description: 'new' }],
    ['maxPerSecond', { maxPerSecond: 5 }],
    ['no description', { description: null }, { description: '' }],
  ])('%s can be given alone; everything else stays', async (_, change, shown = change) => {
    const { secret, ...before } = (await create({ headers: { 'X-A': '1' }, description: 'old' })).data;
    expect(secret).toBeDefined();
    const response = await patch(before.webhookId, change);
    expectSuccess(response, 200);
    expect(response.data).toEqual({ ...before, ...shown, updatedAt: expect.stringMatching(offsetForm) });
    expect(Date.parse(response.data.updatedAt as string)).toBeGreaterThan(
      Date.parse(before.updatedAt as string),
    );
    const { data } = await account.call(`/v1/webhooks/${before.webhookId}`);
    expect(data).toMatchObject(response.data);
  });

  it('a change to what it is already writes no revision and no line in the audit log', async () => {
    const own = {
      interests: ['CREATED', 'LOST'],
      targetAddress: `${targetAddress}?token=1`,
      status: 'ACTIVE',
      ordering: 'NONE',
      supersede: true,
      headers: { 'X-A': '1', 'X-B': '2' },
      description: 'PAUSED',
    };
    const { secret, ...before } = (await create(own)).data;
    expect(secret).toBeDefined();
    const { webhookId } = before;
    const stored = () =>
      service.sql('select webhooks::text from webhooks where webhook_id = $1', [webhookId]);
    const row = await stored();
    for (const same of [own, before, { headers: { 'X-B': '••••', 'X-A': '1' } }]) {
      const response = await patch(webhookId, same);
      expect({ ...response.data }).toEqual(before);
    }
    expect(await stored()).toEqual(row);
    const fields = { ...own, interests: ['LOST'], headers: { 'X-A': '1' } };
    expectSuccess(await patch(webhookId, fields), 200);
    const lines = `select action, fields from audit where webhook_id = $1 order by audit_id`;
    expect(await service.sql(lines, [webhookId])).toEqual([
      { action: 'WEBHOOK_CREATED', fields: [] },
      { action: 'WEBHOOK_UPDATED', fields: ['interests', 'headers'] },
    ]);
  });

  it('only the service disables a webhook; it shows the reason until its status is changed', async () => {
    const { webhookId } = (await create()).data;
    expectWrong(await patch(webhookId, { status: 'DISABLED' }), ['status']);
    expectWrong(await create({ status: 'DISABLED' }), ['status']);
    await service.sql(
      `update webhooks set status = 'DISABLED', disabled_reason = 'GONE' where webhook_id = $1`,
      [webhookId],
    );
    const renamed = await patch(webhookId, { description: 'Gone' });
    expect(renamed.data).toMatchObject({ status: 'DISABLED', disabledReason: 'GONE' });
    const active = await patch(webhookId, { status: 'ACTIVE' });
    expect(active.data).toMatchObject({ status: 'ACTIVE', disabledReason: null });
  });

  it.each<[object, string[]]>([
    [{}, ['body']],
    [{ somethingElse: 1 }, ['body']],
    [{ status: 'DELETED', interests: [], targetAddress: 'x' }, ['status', 'interests', 'targetAddress']],
    [{ interests: null }, ['interests']],
    [{ maxPerSecond: 1_001 }, ['maxPerSecond']],
    [{ notifyEmail: 'you@example.com' }, ['notifyEmail']], // the service sends no mails
    [{ maxPerSecond: 1.5 }, ['maxPerSecond']],
    [{ maxPerSecond: '5' }, ['maxPerSecond']],
    [{ supersede: 1, ordering: 'FIFO', headers: { host: 'x' } }, ['supersede', 'ordering', 'headers.host']],
  ])('%j returns 400 and changes nothing', async (body, paths) => {
    const { webhookId } = (await create()).data;
    const before = (await account.call(`/v1/webhooks/${webhookId}`)).data;
    expectWrong(await patch(webhookId, body), paths);
    expect((await account.call(`/v1/webhooks/${webhookId}`)).data).toEqual(before);
  });
});

describe('reading and deleting webhooks', () => {
  it('the list has each webhook once, page by page, without deleted ones', async () => {
    const own = await registerAccount(service);
    const ids: unknown[] = [];
    for (let n = 0; n < 7; n += 1) ids.push((await create({}, own)).data.webhookId);
    await own.call(`/v1/webhooks/${String(ids.shift())}`, { method: 'DELETE' });
    const seen = await readAll<{ webhookId: string }>(own.call, '/v1/webhooks?limit=2', 'webhooks');
    expect(seen.map(({ webhookId }) => webhookId)).toEqual(ids);
    const all = await own.call('/v1/webhooks');
    expect(Object.keys(all.data.webhooks[0]).slice(0, fields.length)).toEqual(fields);
  });

  it('a delete returns 200 with the id, and the webhook is not found from then on', async () => {
    const own = await registerAccount(service);
    const { webhookId } = (await create({}, own)).data;
    const deleted = await own.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
    expectSuccess(deleted, 200);
    expect(deleted.data).toEqual({ webhookId });
    expectFailure(await own.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' }), 404);
    expectFailure(await own.call(`/v1/webhooks/${webhookId}`), 404);
    expectFailure(await patch(webhookId, { description: 'x' }, own), 404);
    expect((await own.call('/v1/webhooks')).data.webhooks).toEqual([]);
  });

  it.each([unknownId, 'x', '1', '%00', `${unknownId}x`, '..%2f'])(
    'the unknown id %s returns 404',
    async (id) => {
      expectFailure(await account.call(`/v1/webhooks/${id}`), 404);
      expectFailure(await patch(id, { description: 'x' }), 404);
      expectFailure(await account.call(`/v1/webhooks/${id}`, { method: 'DELETE' }), 404);
    },
  );
});

describe('limits of the configuration', () => {
  it('a shipper has at most 100 webhooks, even if many are created at once; a deleted one makes room', async () => {
    const own = await registerAccount(service);
    const statuses: number[] = [];
    for (let wave = 0; wave < 7; wave += 1) {
      const responses = await Promise.all(Array.from({ length: 15 }, () => create({}, own)));
      statuses.push(...responses.map(({ httpStatus }) => httpStatus));
    }
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    expect(statuses.filter((status) => status === 409)).toHaveLength(5);
    const { data } = await own.call('/v1/webhooks?limit=250');
    expect(data.webhooks).toHaveLength(100);
    await own.call(`/v1/webhooks/${data.webhooks[0].webhookId}`, { method: 'DELETE' });
    expectSuccess(await create({}, own), 201);
    expectFailure(await create({}, own), 409);
  });
});

describe('the private parts of a webhook: header values and, at rest, the query of its address', () => {
  it('header values are never shown, the address only to its owner; the database stores neither them nor its query in plain text', async () => {
    const address = `${targetAddress}?token=canary-query`;
    const created = await create({ targetAddress: address, headers: { 'X-Own': 'canary-value' } });
    const { webhookId } = created.data;
    const list = await account.call('/v1/webhooks?limit=250');
    const responses = [
      created,
      await account.call(`/v1/webhooks/${webhookId}`),
      await patch(webhookId, { description: 'x' }),
      {
        data: (list.data.webhooks as object[]).find(
          (each) => 'webhookId' in each && each.webhookId === webhookId,
        ),
      },
    ];
    for (const { data } of responses)
      expect(data).toMatchObject({ targetAddress: address, headers: { 'X-Own': '••••' } });
    expect(JSON.stringify(await service.sql('select webhooks::text from webhooks'))).not.toMatch(/canary/);
  });

  it('a header sent back masked keeps its value, whatever the case of its name; another is replaced', async () => {
    const { webhookId } = (await create({ headers: { 'X-A': '1', 'X-B': '2', 'X-C': '3' } })).data;
    const stored = async () => {
      const sql = 'select headers from webhooks where webhook_id = $1';
      return (await service.sql<{ headers: Record<string, string> }>(sql, [webhookId]))[0]!.headers;
    };
    const before = await stored();
    const response = await patch(webhookId, { headers: { 'x-a': '••••', 'X-B': 'new' }, status: 'ACTIVE' });
    expectSuccess(response, 200);
    expect(response.data.headers).toEqual({ 'x-a': '••••', 'X-B': '••••' });
    const after = await stored();
    expect(after['x-a']).toBe(before['X-A']);
    expect(after['X-B']).not.toBe(before['X-B']);
  });

  it('a masked value without a stored one returns 400 and changes nothing, on create too', async () => {
    const { webhookId } = (await create({ headers: { 'X-A': '1' } })).data;
    const headers = { 'X-A': '••••', 'X-B': '••••' };
    expectWrong(await patch(webhookId, { headers }), ['headers.X-B']);
    expect((await account.call(`/v1/webhooks/${webhookId}`)).data.headers).toEqual({ 'X-A': '••••' });
    expectWrong(await create({ headers: { 'X-A': '••••' } }), ['headers.X-A']);
    expectFailure(await patch(unknownId, { headers }), 404);
  });

  it.each(['https://example.com/hook', 'https://example.org:8443/hook', 'http://example.org/hook'])(
    'at %s the webhook keeps no header value that is not given again: who may not read it must not fetch it',
    async (elsewhere) => {
      const { webhookId, targetAddress: before } = (await create({ headers: { 'X-A': '1', 'X-B': '2' } }))
        .data;
      const move = (fields: object) => patch(webhookId, { targetAddress: elsewhere, ...fields });
      expectWrong(await move({}), ['headers.X-A', 'headers.X-B']);
      expectWrong(await move({ headers: { 'x-a': '••••', 'X-B': 'new' } }), ['headers.x-a']);
      expect((await account.call(`/v1/webhooks/${webhookId}`)).data.targetAddress).toBe(before);
      const moved = await move({ headers: { 'X-A': 'again' } });
      expect(moved).toMatchObject({ httpStatus: 200, data: { headers: { 'X-A': '••••' } } });
      const back = { targetAddress: `${elsewhere}/other?query=1`, headers: { 'X-A': '••••' } };
      expectSuccess(await patch(webhookId, back), 200);
      expectSuccess(await patch(webhookId, { targetAddress: before, headers: {} }), 200);
      expectSuccess(await patch(webhookId, { targetAddress: elsewhere }), 200);
    },
  );

  it('all wrong headers are named at once, including one whose value is not a string', async () => {
    expectWrong(await create({ headers: { 'X-A': '1', 'x-a': '2' } }), ['headers.x-a']);
    const headers = { a: 1, Host: 'x', 'X A': 'y', 'X-B': 'é', 'X-C': 'well' };
    const paths = ['headers.a', 'headers.Host', 'headers.X A', 'headers.X-B'];
    expectWrong(await create({ headers, status: 'NONE' }), [...paths, 'status']);
    expectWrong(await patch(unknownId, { headers }), paths);
  });
});
