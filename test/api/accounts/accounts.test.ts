import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { basic, operator, placeOrder, registerAccount, request } from '../../support/client.js';
import { findInDatabase } from '../../support/database.js';
import { sharedService } from '../../support/shared-service.js';
import { expectFailure, expectSuccess, expectWrong, uuidForm } from '../../support/expect.js';

let users = 0;

const service = await sharedService();
const response = await operator(service, '/shippers', { body: { name: '<Paquetería & Ñandú>' } });
const { shipperId, accountKey } = response.data as { shipperId: string; accountKey: string };

async function newUser(password?: string) {
  const email = `user${(users += 1)}@example.com`;
  const response = await operator(service, `/shippers/${shipperId}/users`, {
    body: { email, ...(password !== undefined && { password }) },
  });
  expectSuccess(response, 201);
  const { userId, setPasswordUrl } = response.data as { userId: string; setPasswordUrl: string };
  return { email, userId, setPasswordUrl };
}
const login = (email: string, password: string) =>
  request(`${service.url}/v1/login?key=${accountKey}`, {
    headers: { authorization: basic(email, password) },
  });
const tokenOf = (setPasswordUrl: string) => new URL(setPasswordUrl).searchParams.get('token')!;
const textOf = ({ body }: Awaited<ReturnType<typeof request>>) => (body as unknown as { text: string }).text;
const openPage = (setPasswordUrl: string) =>
  request(`${service.url}/set-password?token=${tokenOf(setPasswordUrl)}`);
const submit = (setPasswordUrl: string, password: string) =>
  request(`${service.url}/set-password`, {
    raw: new URLSearchParams({ token: tokenOf(setPasswordUrl), password }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

describe('registration by the operator', () => {
  test('a shipper gets an id and an account key, both unique', async () => {
    const response = await operator(service, '/shippers', { body: { name: 'Same name' } });
    const again = await operator(service, '/shippers', { body: { name: 'Same name' } });
    expectSuccess(response, 201);
    expect(Object.keys(response.data)).toEqual(['shipperId', 'accountKey']);
    expect(response.data.shipperId).toMatch(uuidForm);
    expect(response.data.accountKey).toMatch(/^[\w-]{20,}$/);
    expect(again.data.accountKey).not.toBe(response.data.accountKey);
    expect(again.data.shipperId).not.toBe(response.data.shipperId);
  });

  test('account key, password and link are stored as hashes only, the password as Argon2id with 19 MiB', async () => {
    const { email } = await newUser('a password to find');
    const [row] = await service.sql<{ password_hash: string }>('select * from users where email = $1', [
      email,
    ]);
    expect(row!.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const { setPasswordUrl } = await newUser();
    const secrets = [accountKey, 'a password to find', tokenOf(setPasswordUrl)];
    expect(await findInDatabase(service.sql, secrets)).toEqual([]);
  });

  test('a user gets an id and a link with a token of 256 bits', async () => {
    const { userId, setPasswordUrl } = await newUser();
    expect(userId).toMatch(uuidForm);
    expect(setPasswordUrl).toBe(`${service.url}/set-password?token=${tokenOf(setPasswordUrl)}`);
    expect(Buffer.from(tokenOf(setPasswordUrl), 'base64url')).toHaveLength(32);
  });

  test('an e-mail address is unique per shipper, ignoring case; another shipper may use it too', async () => {
    const { email } = await newUser();
    expectFailure(await operator(service, `/shippers/${shipperId}/users`, { body: { email } }), 409);
    const shouted = { body: { email: email.toUpperCase() } };
    expectFailure(await operator(service, `/shippers/${shipperId}/users`, shouted), 409);
    const other = await operator(service, '/shippers', { body: { name: 'Other' } });
    expectSuccess(
      await operator(service, `/shippers/${other.data.shipperId}/users`, { body: { email } }),
      201,
    );
  });

  test.each<[string, object, string[]]>([
    ['/shippers', {}, ['name']],
    ['/shippers', { name: '  ' }, ['name']],
    ['/shippers', { name: 1 }, ['name']],
    ['/shippers', { name: 'x'.repeat(1_001) }, ['name']],
    ['users', {}, ['email']],
    ['users', { email: 'nobody' }, ['email']],
    ['users', { email: 'a:b@example.com', password: 'short' }, ['email', 'password']],
    ['users', { email: 'a@example.com', password: 'x'.repeat(11) }, ['password']],
    ['users', { email: 'a@example.com', password: 'x'.repeat(129) }, ['password']],
    ['users', { email: 'a@example.com', password: '😀'.repeat(6) }, ['password']],
    ['users', { email: 'a@example.com', password: '😀'.repeat(129) }, ['password']],
    ['users', { email: 'a@example.com', password: 123456789012 }, ['password']],
    ['users', { email: null, password: null }, ['email', 'password']],
  ])('POST %s with %j is 400 that names %j', async (path, body, paths) => {
    const full = path === 'users' ? `/shippers/${shipperId}/users` : path;
    expectWrong(await operator(service, full, { body }), paths);
  });

  test('passwords of 12 and of 128 characters are accepted', async () => {
    for (const password of ['x'.repeat(12), 'y'.repeat(128), '😀'.repeat(12), '😀'.repeat(128)]) {
      const { email } = await newUser(password);
      expectSuccess(await login(email, password), 200);
    }
  });

  test.each(['018f0000-0000-7000-8000-000000000000', 'no-id', '%00', `${'1'.repeat(300)}`])(
    'an unknown shipper or user (%s) is 404',
    async (id) => {
      expectFailure(await operator(service, `/shippers/${id}/users`, { body: { email: 'a@b.co' } }), 404);
      expectFailure(await operator(service, `/users/${id}/password-link`, { method: 'POST' }), 404);
    },
  );
});

describe('the password link', () => {
  test('opens a form that sets the password, once, and leads to the portal', async () => {
    const { email, setPasswordUrl } = await newUser();
    const page = await openPage(setPasswordUrl);
    expect(page.httpStatus).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html; charset=utf-8/i);
    expect(page.headers.get('cache-control')).toContain('no-store');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    const text = textOf(page);
    expect(text).toContain('<form class="form" method="post" action="/set-password">');
    expect(text).toContain(tokenOf(setPasswordUrl));
    expect(text).toContain('maxlength="256"'); // so that a browser does not cut off 128 emoji
    expect(text).toContain(`For the user ${email} of the Parcelhook account &lt;Paquetería &amp; Ñandú&gt;.`);
    expectFailure(await login(email, 'my new password'), 401);

    const done = await submit(setPasswordUrl, 'my new password');
    expect(done.httpStatus).toBe(200);
    for (const part of [
      `The password of ${email} for the Parcelhook account &lt;Paquetería &amp; Ñandú&gt; is set.`,
      ...[
        '<a class="button primary" href="/">Log in</a>',
        '<a href="/docs">',
        'the account key (your operator has it)',
      ],
    ])
      expect(textOf(done)).toContain(part);
    expectSuccess(await login(email, 'my new password'), 200);

    expect((await openPage(setPasswordUrl)).httpStatus).toBe(404);
    expect((await submit(setPasswordUrl, 'yet another password')).httpStatus).toBe(404);
    expectFailure(await login(email, 'yet another password'), 401);
  });

  test('stays valid after viewing the page and after a refused password', async () => {
    const { email, setPasswordUrl } = await newUser();
    await openPage(setPasswordUrl);
    for (const password of ['short', '', 'x'.repeat(129), `${'x'.repeat(12)}\0`, `${'x'.repeat(12)}\ufffd`])
      expect((await submit(setPasswordUrl, password)).httpStatus).toBe(400);
    expect((await submit(setPasswordUrl, 'long enough now')).httpStatus).toBe(200);
    expectSuccess(await login(email, 'long enough now'), 200);
  });

  test('used twice at once, exactly one succeeds', async () => {
    const { setPasswordUrl } = await newUser();
    const responses = await Promise.all(
      ['first password', 'second password', 'third password'].map((word) => submit(setPasswordUrl, word)),
    );
    expect(responses.map(({ httpStatus }) => httpStatus).sort()).toEqual([200, 404, 404]);
  });

  test('expires after 24 hours, not before', async () => {
    const { userId, setPasswordUrl } = await newUser();
    const move = (time: string) =>
      service.sql(`update password_links set expires_at = expires_at - $1::interval where user_id = $2`, [
        time,
        userId,
      ]);
    await move('23 hours 59 minutes');
    expect((await openPage(setPasswordUrl)).httpStatus).toBe(200);
    await move('1 minute');
    expect((await openPage(setPasswordUrl)).httpStatus).toBe(404);
    expect((await submit(setPasswordUrl, 'long enough now')).httpStatus).toBe(404);
  });

  test.each(['', 'x', 'a'.repeat(43), '<script>alert(1)</script>', '%00', '%ff'])(
    'an unknown token (%s) returns 404 and is not echoed',
    async (token) => {
      for (const response of [
        await request(`${service.url}/set-password?token=${token}`),
        await request(`${service.url}/set-password`, {
          raw: `token=${token}&password=long+enough+now`,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      ]) {
        expect(response.httpStatus).toBe(404);
        expect(JSON.stringify(response.body)).not.toContain('alert(1)');
      }
    },
  );

  test('the page, requested by many strangers at once, does not exhaust the database connections', async () => {
    const account = await registerAccount(service);
    const client = new pg.Client({ connectionString: service.env.DATABASE_URL! });
    await client.connect();
    try {
      await client.query('begin; lock table password_links in access exclusive mode');
      const strangers = Array.from({ length: 30 }, (_, n) =>
        request(`${service.url}/set-password?token=${String(n).padStart(43, 'a')}`),
      );
      for (let n = 0; n < 10; n += 1) expect((await account.call('/v1/webhooks')).httpStatus).toBe(200);
      await placeOrder(account);
      await client.query('rollback');
      for (const { httpStatus } of await Promise.all(strangers))
        expect([404, 429, 503]).toContain(httpStatus);
    } finally {
      await client.end();
    }
  });
});
