import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import {
  basic,
  operator,
  registerAccount,
  request,
  type Account,
  type ApiResponse,
} from '../../support/client.js';
import { accountAt } from '../../support/deployment.js';
import { percentile } from '../../support/load.js';
import { backends, startProcess, startService, stopProcess, type Service } from '../../support/harness.js';
import { expectFailure, expectSuccess } from '../../support/expect.js';

const wrongPassword = 'wrong horse battery';

let service: Service | undefined;
const stop = async () => {
  await service?.stop();
  service = undefined;
};

const login = (
  service: { url: string },
  { accountKey, email, password }: Pick<Account, 'accountKey' | 'email' | 'password'>,
  headers: Record<string, string> = {},
) =>
  request(`${service.url}/v1/login?key=${accountKey}`, {
    headers: { authorization: basic(email, password), ...headers },
  });

function expectLimited(response: ApiResponse, withinSeconds: number): void {
  expectFailure(response, 429);
  expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(withinSeconds);
}

const tally = (responses: ApiResponse[]): Record<number, number> =>
  responses.reduce<Record<number, number>>(
    (counts, { httpStatus }) => ({ ...counts, [httpStatus]: (counts[httpStatus] ?? 0) + 1 }),
    {},
  );

async function inSequences(sequences: number, count: number, call: (index: number) => Promise<ApiResponse>) {
  const responses: ApiResponse[] = [];
  let next = 0;
  const lane = async () => {
    while (next < count) responses.push(await call(next++));
  };
  await Promise.all(Array.from({ length: sequences }, lane));
  return responses;
}

const from = (ip: string) => ({ 'x-forwarded-for': ip });

const limited = async (limit: string, { url } = service!): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    new RegExp(`^parcelhook_rate_limited_total\\{limit="${limit}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
  );
};

describe.each(backends)('with limits kept beside the queue on %s', (backend) => {
  describe('logins', () => {
    beforeAll(async () => {
      const env = { API_RATE_LIMIT: '0', LOGIN_LIMIT_ACCOUNT: '20', LOGIN_LIMIT_IP: '40', TRUST_PROXY: '1' };
      service = await startService({ backend, role: 'api', env });
    });
    afterAll(stop);

    test('API_RATE_LIMIT=0 disables the limit', async () => {
      const account = await registerAccount(service!);
      expect(tally(await inSequences(10, 100, () => account.call('/v1/webhooks')))).toEqual({ 200: 100 });
    });

    test('of hundreds of logins to one account from one address, LOGIN_LIMIT_ACCOUNT an hour reach the hash; other users, and the same user from elsewhere, still log in', async () => {
      const account = await registerAccount(service!); // logs in once from the attacker’s address
      const others: Account[] = [];
      for (let n = 0; n < 5; n += 1) others.push(await registerAccount(service!, `other${n}@example.com`));
      expectSuccess(await login(service!, account, from('198.51.100.1')), 200);
      let attacked = false;
      const attack = inSequences(8, 200, () =>
        login(service!, { ...account, password: wrongPassword }),
      ).finally(() => (attacked = true));
      const durations: number[] = [];
      while (!attacked || durations.length < 10) {
        const n = durations.length;
        const startedAt = performance.now();
        const response = await login(service!, others[n % others.length]!, from(`198.51.100.${10 + n}`));
        durations.push(performance.now() - startedAt);
        if (n < 50) expectSuccess(response, 200); // if the attack takes long, each account uses half of its own limit
        if (!attacked) await sleep(20);
      }
      const responses = await attack;
      console.info(
        `${backend}: ${JSON.stringify(tally(responses))}; ${durations.length} logins of others, p99 ` +
          `${percentile(durations, 0.99).toFixed(0)} ms, p50 ${percentile(durations, 0.5).toFixed(0)} ms`,
      );
      const { 401: hashed, 429: refused } = tally(responses);
      expect(hashed! + refused!).toBe(200);
      expect(hashed).toBeGreaterThanOrEqual(19);
      expect(hashed).toBeLessThanOrEqual(backend === 'redis' ? 22 : 19); // a process without access to Redis counts alone
      expect(percentile(durations, 0.99)).toBeLessThan(5_000); // prints the figure; a busy machine is not a failure
      expectLimited(await login(service!, account), 3_600);
      expect(await limited('login_account')).toBeGreaterThanOrEqual(refused!);
      expectSuccess(await login(service!, account, from('198.51.100.1')), 200);
      expectSuccess(await login(service!, account, from('198.51.100.2')), 200);
    }, 180_000);

    test('guesses from many addresses do not lock the user out, neither at a known address nor at a new one', async () => {
      const account = await registerAccount(service!);
      expectSuccess(await login(service!, account, from('192.0.2.1')), 200);
      const guess = (ip: string) => login(service!, { ...account, password: wrongPassword }, from(ip));
      const guesses = async (ip: string, count: number) =>
        tally(await inSequences(1, count, () => guess(ip)));
      // The user's own first logins use two of the twenty. A stranger gets a quarter of them ...
      expect(await guesses('192.0.2.10', 7)).toEqual({ 401: 5, 429: 2 });
      // ... down to the half that is reserved for the first login of each address.
      expect(await guesses('192.0.2.11', 7)).toEqual({ 401: 3, 429: 4 });
      expect(await guesses('192.0.2.12', 3)).toEqual({ 401: 1, 429: 2 });
      expectLimited(await guess('192.0.2.12'), 3_600);
      expectSuccess(await login(service!, account, from('192.0.2.2')), 200);
      // However many addresses strangers have, no more logins reach the hash ...
      const all = await inSequences(4, 30, (n) => guess(`192.0.3.${n}`));
      expect(tally(all)).toEqual({ 401: 8, 429: 22 });
      expectLimited(await login(service!, account, from('192.0.2.3')), 3_600);
      // ... and the user can log in from known addresses.
      for (const known of ['192.0.2.1', '192.0.2.2'])
        expectSuccess(await login(service!, account, from(known)), 200);
    });

    test('an unknown e-mail is limited like a known one', async () => {
      const account = await registerAccount(service!, 'known@example.com');
      for (const [email, ip] of [
        ['known@example.com', '192.0.4.1'],
        ['nobody@example.com', '192.0.4.2'],
      ] as const) {
        const guess = (as: string) =>
          login(service!, { ...account, email: as, password: wrongPassword }, from(ip));
        for (let attempt = 0; attempt < 5; attempt += 1) expectFailure(await guess(email), 401);
        expectLimited(await guess(email), 3_600);
        expectLimited(await guess(email.toUpperCase()), 3_600);
      }
      expectSuccess(await login(service!, account), 200);
    });

    test('an address that failed LOGIN_LIMIT_IP times must wait, except for users who logged in from it; successes do not count', async () => {
      const [account, second] = [
        await registerAccount(service!),
        await registerAccount(service!, 'second@example.com'),
      ];
      const here = from('192.0.5.1');
      for (let time = 0; time < 3; time += 1) expectSuccess(await login(service!, account, here), 200);
      const before = await limited('login_ip');
      const unknown = (n: number) => login(service!, { ...account, accountKey: `ak_unknown${n}` }, here);
      expect(tally(await inSequences(1, 40, unknown))).toEqual({ 401: 40 });
      expectLimited(await login(service!, second, here), 3_600);
      expectLimited(await unknown(1), 3_600);
      expect(await limited('login_ip')).toBe(before + 2);
      expectSuccess(await login(service!, account, here), 200);
      expectSuccess(await login(service!, second, from('192.0.5.2')), 200);
      expectSuccess(await account.call('/v1/webhooks'), 200);
    });

    test('addresses that keep many logins in flight do not block other addresses', async () => {
      const account = await registerAccount(service!);
      const others = [];
      for (let n = 0; n < 4; n += 1) others.push(await registerAccount(service!, `right${n}@example.com`));
      let over = false;
      const crowds = ['192.0.6.1', '192.0.6.2', '192.0.6.3'].map((ip) =>
        inSequences(24, Infinity, async (n) => {
          if (over) throw new Error('the flood is over');
          await sleep(20);
          return login(service!, { ...account, email: `invented${n}@example.com` }, from(ip));
        }).catch(() => undefined),
      );
      await sleep(200);
      for (let n = 0; n < 8; n += 1)
        expectSuccess(await login(service!, others[n % 4]!, from(`192.0.7.${n}`)), 200);
      over = true;
      await Promise.all(crowds);
      expect(await limited('login_crowd')).toBeGreaterThan(0);
    }, 60_000);
  });
});

// These have their own services and run concurrently.

test.concurrent.each(backends)(
  'with limits kept beside the queue on %s a shipper may spend ten seconds of API_RATE_LIMIT at once and then waits for Retry-After; others do not',
  async (backend) => {
    const env = { API_RATE_LIMIT: '5', TIME_SCALE: '0.6' }; // ten seconds last six
    const own = await startService({ backend, role: 'api', env });
    try {
      const [account, other] = [await registerAccount(own), await registerAccount(own, 'b@example.com')];
      const responses = await inSequences(1, 60, () => account.call('/v1/webhooks'));
      const passed = tally(responses)[200]!;
      expect(passed).toBeGreaterThanOrEqual(50);
      expect(passed).toBeLessThanOrEqual(backend === 'redis' ? 58 : 50); // Redis learns of local grants later
      const refused = responses.at(-1)!;
      expectLimited(refused, 6);
      expect(await limited('api', own)).toBe(60 - passed);
      expectSuccess(await other.call('/v1/webhooks'), 200);
      expect((await operator(own, '/status')).httpStatus).toBe(200);

      await sleep(Number(refused.headers.get('retry-after')) * 1_000);
      expectSuccess(await account.call('/v1/webhooks'), 200);
    } finally {
      await own.stop();
    }
  },
);

test.concurrent.each([
  ['no proxy is trusted', {}, 429],
  ['one proxy is trusted', { TRUST_PROXY: '1' }, 401],
  ['the loopback is trusted', { TRUST_PROXY: 'loopback' }, 401],
  ['another subnet is trusted', { TRUST_PROXY: '10.0.0.0/8' }, 429],
])('X-Forwarded-For is trusted only from a trusted proxy: %s', async (_, env, third) => {
  const own = await startService({ role: 'api', env: { LOGIN_LIMIT_IP: '2', ...env } });
  const nobody = { accountKey: 'ak_unknown', email: 'nobody@example.com', password: wrongPassword };
  const failing = (ip: string) => login(own, nobody, from(ip));
  try {
    expectFailure(await failing('203.0.113.1'), 401);
    expectFailure(await failing('203.0.113.1'), 401);
    expectFailure(await failing('203.0.113.2'), third);
    expectLimited(await failing('203.0.113.1'), 3_600);
    if (third === 401) {
      expectFailure(await failing('2001:db8:0:1::1'), 401);
      expectFailure(await failing('2001:db8:0:1::2'), 401);
      expectLimited(await failing('2001:db8:0:1:ffff::3'), 3_600);
      expectFailure(await failing('2001:db8:0:2::1'), 401);
    }
  } finally {
    await own.stop();
  }
});

(backends.includes('redis') ? test.concurrent : test.concurrent.skip)(
  'limits in Redis are shared by all processes, and their keys show neither e-mail, account key nor address',
  async () => {
    const own = await startService({
      backend: 'redis',
      role: 'api',
      env: { API_RATE_LIMIT: '10', LOGIN_LIMIT_ACCOUNT: '4' },
    });
    const second = await startProcess(own.env, 'api');
    try {
      const account = await registerAccount(own);
      const at = [account, accountAt(account, second)];
      const responses = await inSequences(1, 200, (n) => at[n % 2]!.call('/v1/webhooks'));
      const passed = tally(responses)[200]!;
      expect(passed).toBeGreaterThanOrEqual(100);
      expect(passed).toBeLessThanOrEqual(105);
      const wrong = { ...account, password: wrongPassword };
      for (const process of [own, second, own]) expectFailure(await login(process, wrong), 401);
      for (const process of [own, second]) expectLimited(await login(process, account), 3_600);

      const redis = new Redis(own.env.REDIS_URL!);
      const keys = await redis.keys(`${own.env.QUEUE_PREFIX}:limit:*`);
      redis.disconnect();
      expect(keys).toHaveLength(4);
      for (const secret of [account.email, account.accountKey, '127.0.0.1'])
        expect(keys.join()).not.toContain(secret);
    } finally {
      await stopProcess(second);
      await own.stop();
    }
  },
);
