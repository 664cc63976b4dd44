/** The limits of logins, which processes with Redis share: run on both queues. */
import { afterAll, expect, test } from '@jest/globals';
import { basic, logInToPortal, registerAccount, request, type Account } from '../../support/client.js';
import { queue, startServiceWith } from '../../support/harness.js';
import { expectFailure, expectSuccess } from '../../support/expect.js';
import { expectLimited, inSequences, limited, tally } from './limited.js';

const wrongPassword = 'wrong horse battery';

const env = { API_RATE_LIMIT: '0', LOGIN_LIMIT_ACCOUNT: '20', LOGIN_LIMIT_IP: '40', TRUST_PROXY: '1' };
const service = await startServiceWith(env, 'api');
afterAll(() => service.stop());

const login = (
  { url }: { url: string },
  { accountKey, email, password }: Pick<Account, 'accountKey' | 'email' | 'password'>,
  headers: Record<string, string> = {},
) =>
  request(`${url}/v1/login?key=${accountKey}`, {
    headers: { authorization: basic(email, password), ...headers },
  });
const from = (ip: string) => ({ 'x-forwarded-for': ip });

test('API_RATE_LIMIT=0 disables the limit', async () => {
  const account = await registerAccount(service);
  expect(tally(await inSequences(10, 100, () => account.call('/v1/webhooks')))).toEqual({ 200: 100 });
});

test('LOGIN_LIMIT_ACCOUNT logins an hour to one account from one address reach the hash; other users, and the same user from elsewhere, still log in', async () => {
  const account = await registerAccount(service); // logs in once from the attacker’s address
  const other = await registerAccount(service, 'other@example.com');
  expectSuccess(await login(service, account, from('198.51.100.1')), 200);
  const attack = inSequences(8, 100, () => login(service, { ...account, password: wrongPassword }));
  for (let n = 0; n < 4; n += 1)
    expectSuccess(await login(service, other, from(`198.51.100.${10 + n}`)), 200);
  const { 401: hashed, 429: refused } = tally(await attack);
  expect(hashed! + refused!).toBe(100);
  expect(hashed).toBeGreaterThanOrEqual(19);
  expect(hashed).toBeLessThanOrEqual(queue === 'redis' ? 22 : 19); // a process without access to Redis counts alone
  expectLimited(await login(service, account), 3_600);
  expect(await limited('login_account', service)).toBeGreaterThanOrEqual(refused!);
  for (const known of ['198.51.100.1', '198.51.100.2'])
    expectSuccess(await login(service, account, from(known)), 200);
});

test('logins to the portal and to the API count together', async () => {
  const account = await registerAccount(service); // the first of the twenty
  for (let n = 0; n < 9; n += 1) {
    expectSuccess(await logInToPortal(service, account), 201);
    expectSuccess(await login(service, account), 200);
  }
  expectSuccess(await logInToPortal(service, account), 201);
  for (const refused of [await logInToPortal(service, account), await login(service, account)])
    expectLimited(refused, 3_600);
});

test('guesses from many addresses do not lock the user out, neither at a known address nor at a new one', async () => {
  const account = await registerAccount(service);
  expectSuccess(await login(service, account, from('192.0.2.1')), 200);
  const guess = (ip: string) => login(service, { ...account, password: wrongPassword }, from(ip));
  const guesses = async (ip: string, count: number) => tally(await inSequences(1, count, () => guess(ip)));
  // The user's own first logins use two of the twenty. A stranger gets a quarter of them ...
  expect(await guesses('192.0.2.10', 7)).toEqual({ 401: 5, 429: 2 });
  // ... down to the half that is reserved for the first login of each address.
  expect(await guesses('192.0.2.11', 7)).toEqual({ 401: 3, 429: 4 });
  expect(await guesses('192.0.2.12', 3)).toEqual({ 401: 1, 429: 2 });
  expectLimited(await guess('192.0.2.12'), 3_600);
  expectSuccess(await login(service, account, from('192.0.2.2')), 200);
  // However many addresses strangers have, no more logins reach the hash ...
  const all = await inSequences(4, 30, (n) => guess(`192.0.3.${n}`));
  expect(tally(all)).toEqual({ 401: 8, 429: 22 });
  expectLimited(await login(service, account, from('192.0.2.3')), 3_600);
  // ... and the user can log in from known addresses.
  for (const known of ['192.0.2.1', '192.0.2.2'])
    expectSuccess(await login(service, account, from(known)), 200);
});

test('an unknown e-mail is limited like a known one', async () => {
  const account = await registerAccount(service, 'known@example.com');
  for (const [email, ip] of [
    ['known@example.com', '192.0.4.1'],
    ['nobody@example.com', '192.0.4.2'],
  ] as const) {
    const guess = (as: string) =>
      login(service, { ...account, email: as, password: wrongPassword }, from(ip));
    for (let attempt = 0; attempt < 5; attempt += 1) expectFailure(await guess(email), 401);
    expectLimited(await guess(email), 3_600);
    expectLimited(await guess(email.toUpperCase()), 3_600);
  }
  expectSuccess(await login(service, account), 200);
});

test('an address that failed LOGIN_LIMIT_IP times must wait, except for users who logged in from it; successes do not count', async () => {
  const [account, second] = [
    await registerAccount(service),
    await registerAccount(service, 'second@example.com'),
  ];
  const here = from('192.0.5.1');
  for (let time = 0; time < 3; time += 1) expectSuccess(await login(service, account, here), 200);
  const before = await limited('login_ip', service);
  const unknown = (n: number) => login(service, { ...account, accountKey: `ak_unknown${n}` }, here);
  expect(tally(await inSequences(1, 40, unknown))).toEqual({ 401: 40 });
  expectLimited(await login(service, second, here), 3_600);
  expectLimited(await unknown(1), 3_600);
  expect(await limited('login_ip', service)).toBe(before + 2);
  expectSuccess(await login(service, account, here), 200);
  expectSuccess(await login(service, second, from('192.0.5.2')), 200);
  expectSuccess(await account.call('/v1/webhooks'), 200);
});
