import { describe, expect, test } from '@jest/globals';
import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import { SignJWT, decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose';
import { registerAccount, request } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectFailure, expectSuccess } from '../../support/expect.js';

const service = await sharedService();
const account = await registerAccount(service);

const open = (token: string, key = account.accountKey) =>
  request(`${service.url}/v1/webhooks?key=${key}`, { headers: { authorization: `Bearer ${token}` } });
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const soon = () => Math.floor(Date.now() / 1000) + 600;
const signed = (claims: object, secret = service.env.TOKEN_SECRET!, alg = 'HS256') =>
  new SignJWT(claims as JWTPayload).setProtectedHeader({ alg }).sign(createSecretKey(Buffer.from(secret)));

describe('access tokens', () => {
  test('a token states its expiry, which is the lifetime that login announced', () => {
    const { iat, exp } = decodeJwt(account.token);
    expect(exp! - iat!).toBe(3600);
  });

  test('a token contains neither account key nor password nor e-mail address', () => {
    const text = account.token
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString())
      .join();
    for (const secret of [account.accountKey, account.password, account.email])
      expect(text).not.toContain(secret);
  });

  test('a token with one changed character returns 401', async () => {
    const [header, payload, signature] = account.token.split('.') as [string, string, string];
    const flip = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
    for (const forged of [
      [header, payload, flip(signature)],
      [header, payload.slice(0, -1) + (payload.endsWith('0') ? '1' : '0'), signature],
      [header, payload, ''],
      [header, payload],
      [header, payload, signature, signature],
    ])
      expectFailure(await open(forged.join('.')), 401);
  });

  test.each(['none', 'None', 'NONE'])('algorithm %s returns 401', async (alg) => {
    const payload = account.token.split('.')[1];
    for (const signature of ['', account.token.split('.')[2]])
      expectFailure(await open(`${base64url({ alg, typ: 'JWT' })}.${payload}.${signature}`), 401);
  });

  test('a token of another secret or algorithm, or one that has expired, returns 401', async () => {
    const claims = { ...decodeJwt(account.token), exp: soon() };
    expectSuccess(await open(await signed(claims)), 200);
    for (const forged of [
      await signed(claims, 'another secret that is long enough'),
      await signed(claims, service.env.TOKEN_SECRET, 'HS512'),
      await signed({ ...claims, exp: Math.floor(Date.now() / 1000) - 1 }),
    ])
      expectFailure(await open(forged), 401);
  });

  test('a token signed with a key pair, its public key in the header, returns 401', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const forged = await new SignJWT(decodeJwt(account.token))
      .setProtectedHeader({ alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) })
      .setExpirationTime(soon())
      .sign(privateKey);
    expectFailure(await open(forged), 401);
  });

  test("a signed token without the service's claims, or without an expiry, returns 401", async () => {
    expect(decodeProtectedHeader(account.token).alg).toBe('HS256');
    const { exp, ...endless } = decodeJwt(account.token);
    expect(exp).toBeDefined();
    const { iss, aud, ...own } = decodeJwt(account.token);
    expect({ iss, aud }).toEqual({ iss: 'parcelhook', aud: 'parcelhook-api' });
    const others = [
      { ...own, iss },
      { ...own, aud },
      { ...own, iss, aud: 'portal' },
      { ...own, iss: 'x', aud },
    ];
    for (const claims of [{}, { exp: soon() }, { sub: 'x', exp: soon() }, endless, ...others])
      expectFailure(await open(await signed(claims)), 401);
  });

  test('a token of ours with a claim of the wrong type returns 401, and the service keeps running', async () => {
    const wrong: unknown[] = [
      { a: 1 },
      { toString: 1 },
      [],
      [account.shipperId],
      7,
      true,
      null,
      '',
      'x',
      '1'.repeat(5_000),
    ];
    for (const claim of ['sub', 'shipper', 'key', 'user_epoch', 'shipper_epoch', 'exp', 'iss', 'aud'])
      for (const value of wrong) {
        if (claim === 'exp' && value === 7) continue;
        const claims = { ...decodeJwt(account.token), [claim]: value };
        const token = await signed(claims).catch(() => null); // the library refuses to sign some of them
        if (token) expectFailure(await open(token), 401);
      }
    for (const claim of ['user_epoch', 'shipper_epoch'])
      for (const value of [-1, 0.5, 1e300, 1])
        expectFailure(await open(await signed({ ...decodeJwt(account.token), [claim]: value })), 401);
    expect((await request(`${service.url}/healthz`)).httpStatus).toBe(200);
    expectSuccess(await account.call('/v1/webhooks'), 200);
  });

  test.each([
    ['nothing', ''],
    ['another word', 'undefined'],
    ['dots', '..'],
    ['the account key', 'ak_key'],
    ['4,097 characters', 'a'.repeat(4_097)],
  ])('%s instead of a token returns 401', async (_, token) => {
    expectFailure(await open(token), 401);
  });

  test('the operator token is not an access token, and an access token is not an operator token', async () => {
    expectFailure(await open(service.env.OPERATOR_TOKEN!), 401);
    const headers = { authorization: `Bearer ${account.token}` };
    expectFailure(await request(`${service.url}/operator/v1/status`, { headers }), 401);
    expectFailure(await request(`${service.url}/operator/v1/status`), 401);
  });
});
