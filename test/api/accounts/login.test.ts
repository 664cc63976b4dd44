import { describe, expect, test } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { basic, operator, parseResponse, sendRaw, registerAccount, request } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectFailure, expectSuccess, expectWrong } from '../../support/expect.js';

const service = await sharedService();
const account = await registerAccount(service, 'Ana.Torres@Example.com');

const login = (authorization?: string, key: string | null = account.accountKey, rest: object = {}) =>
  request(`${service.url}/v1/login${key === null ? '' : `?key=${encodeURIComponent(key)}`}`, {
    ...(authorization !== undefined && { headers: { authorization } }),
    ...rest,
  });

describe('login', () => {
  test('returns 200, status OK, and exactly a token and its lifetime as a string', async () => {
    const response = await login(basic(account.email, account.password));
    expectSuccess(response, 200);
    expect(Object.keys(response.data)).toEqual(['token', 'expiresIn']);
    expect(response.data.token).toEqual(expect.stringMatching(/.{20}/));
    expect(response.data.expiresIn).toBe('3600');
    expect(response.body).not.toHaveProperty('processId');
  });

  test('the token gives access to the other endpoints; two logins both stay valid, because the users of one shipper share its key', async () => {
    const email = 'second@example.com';
    await operator(service, `/shippers/${account.shipperId}/users`, {
      body: { email, password: 'another long password' },
    });
    const second = await login(basic(email, 'another long password'));
    expectSuccess(second, 200);
    for (const token of [account.token, String(second.data.token)])
      expectSuccess(
        await account.call('/v1/webhooks', { headers: { authorization: `Bearer ${token}` } }),
        200,
      );
  });

  test('a password may contain colons and non-ASCII letters', async () => {
    const password = 'pässwörter: 密码:🔑🔑';
    await operator(service, `/shippers/${account.shipperId}/users`, {
      body: { email: 'colon@example.com', password },
    });
    expectSuccess(await login(basic('colon@example.com', password)), 200);
  });

  describe('a password is text', () => {
    let users = 0;
    let email = '';
    const header = (bytes: Buffer) => `Basic ${bytes.toString('base64')}`;
    const setPassword = async (password: string) => {
      email = `text-${(users += 1)}@example.com`;
      const user = await operator(service, `/shippers/${account.shipperId}/users`, {
        body: { email, password },
      });
      expectSuccess(user, 201);
    };
    const composed = 'contraseña-de-año-nuevo';
    const decomposed = composed.normalize('NFD');

    test('the challenge asks for UTF-8', async () => {
      const response = await login();
      expect(response.headers.get('www-authenticate')).toBe('Basic realm="parcelhook", charset="UTF-8"');
    });

    test('it is the same in Latin-1, and with its accents composed or not', async () => {
      for (const set of [composed, decomposed]) {
        await setPassword(set);
        for (const given of [composed, decomposed]) expectSuccess(await login(basic(email, given)), 200);
        expectSuccess(await login(header(Buffer.from(`${email}:${composed}`, 'latin1'))), 200);
        expectFailure(await login(basic(email, 'contrasena-de-ano-nuevo')), 401);
      }
    });

    test('its spaces are the same, whichever key makes them', async () => {
      await setPassword('correct horse battery');
      expectSuccess(await login(basic(email, 'correct\u00a0horse\u202fbattery')), 200);
    });

    test('it counts as many characters as it has when composed', async () => {
      await setPassword('é'.repeat(128).normalize('NFD'));
      const body = { email: 'short@example.com', password: 'é'.repeat(11).normalize('NFD') };
      expectWrong(await operator(service, `/shippers/${account.shipperId}/users`, { body }), ['password']);
    });

    test('a hash of the text as it was sent goes on working', async () => {
      await setPassword('to be replaced');
      await service.sql('update users set password_hash = $1 where email = $2', [
        await hash(decomposed),
        email,
      ]);
      expectSuccess(await login(basic(email, decomposed)), 200);
    });
  });

  test('the e-mail address and the scheme Basic are accepted in any case', async () => {
    const header = basic('ana.torres@example.COM', account.password).replace('Basic', 'bAsIc');
    expectSuccess(await login(header), 200);
  });

  test.each([
    ['the empty object', '{}'],
    ['an object', '{"a":1}'],
    ['broken JSON', '{"a":'],
    ['200 KiB', `"${'x'.repeat(200 * 1024)}"`],
  ])('a JSON body on this GET is ignored: %s', async (_, body) => {
    const head = [
      `GET /v1/login?key=${account.accountKey} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json`,
      `Content-Length: ${Buffer.byteLength(body)}\r\nAuthorization: ${basic(account.email, account.password)}`,
    ];
    const text = await sendRaw(service.url, `${head.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`);
    expectSuccess(parseResponse(text), 200);
  });

  test('a password that is empty, in another letter case or with a space behind it is 401 with a challenge', async () => {
    for (const password of ['', account.password.toUpperCase(), `${account.password} `]) {
      const response = await login(basic(account.email, password));
      expectFailure(response, 401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
      expect(response.body.error.details).toBeUndefined();
    }
  });

  test("a user of one shipper cannot log in with another shipper's key", async () => {
    const other = await registerAccount(service, 'other@example.com');
    expectFailure(await login(basic(account.email, account.password), other.accountKey), 401);
  });

  test('a user without a password cannot log in', async () => {
    const email = 'nopassword@example.com';
    await operator(service, `/shippers/${account.shipperId}/users`, { body: { email } });
    for (const password of ['', 'null', 'undefined']) expectFailure(await login(basic(email, password)), 401);
  });
});

describe('a 401 says what is missing or wrong', () => {
  const missingKey = 'The query parameter `key` is missing.';
  const bearerForm = '`Authorization: Bearer <token>`';
  const source =
    'Get a token from GET /v1/login with the account key and Basic e-mail:password, or make one in the portal under Tokens.';
  const basicForm = '`Authorization: Basic <Base64 of e-mail:password>`';
  const malformed = `The Authorization header is malformed: expected ${bearerForm}.`;
  const missing = `The Authorization header is missing: expected ${bearerForm}.`;
  const wrong = 'The key or the token is not valid, or the token has expired: log in again.';
  const wrongLogin = 'The key, the e-mail address or the password is wrong.';
  const encoded = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

  test.each<[string, string, string | undefined, string]>([
    ['/v1/webhooks', '', undefined, `${missingKey} ${missing} ${source}`],
    ['/v1/webhooks', 'key=K', undefined, `${missing} ${source}`],
    ['/v1/webhooks', '', 'TOKEN', missingKey],
    ['/v1/webhooks', 'key=', 'TOKEN', missingKey],
    ['/v1/webhooks', 'key=K&key=K', 'TOKEN', 'The query parameter `key` is given more than once.'],
    ['/v1/webhooks', 'key=K', 'Bearer', `${malformed} ${source}`],
    ['/v1/webhooks', 'key=K', 'abc', `${malformed} ${source}`],
    ['/v1/webhooks', 'key=K', 'BASIC', `Expected ${bearerForm}, got Basic. ${source}`],
    ['/v1/login', 'key=K', undefined, `The Authorization header is missing: expected ${basicForm}.`],
    ['/v1/login', 'key=K', 'TOKEN', `Expected ${basicForm}, got Bearer.`],
    [
      '/v1/login',
      'key=K',
      encoded('no colon'),
      `The Authorization header is malformed: expected ${basicForm}.`,
    ],
    ['/operator/v1/status', '', undefined, missing],
    ['/operator/v1/status', '', 'BASIC', `Expected ${bearerForm}, got Basic.`],
    ['/v1/webhooks', 'key=wrong', 'TOKEN', wrong],
    ['/v1/webhooks', 'key=K', 'Bearer wrong', wrong],
    ['/v1/login', 'key=wrong', 'BASIC', wrongLogin],
    ['/v1/login', 'key=K', encoded('ana.torres@example.com:wrong'), wrongLogin],
    ['/v1/login', 'key=K', encoded('nobody@example.com:wrong'), wrongLogin],
    ['/operator/v1/status', '', 'Bearer wrong', 'The operator token is not valid.'],
  ])('%s?%s with %s: 401 says "%s"', async (path, query, header, message) => {
    const own: Record<string, string> = {
      TOKEN: `Bearer ${account.token}`,
      BASIC: basic(account.email, account.password),
    };
    const authorization = header === undefined ? undefined : (own[header] ?? header);
    const url = `${service.url}${path}?${query.replaceAll('=K', `=${account.accountKey}`)}`;
    const response = await request(url, { headers: { ...(authorization && { authorization }) } });
    expectFailure(response, 401);
    expect(response.body.error.message).toBe(message);
  });
});
