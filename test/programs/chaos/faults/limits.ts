import { setTimeout as sleep } from 'node:timers/promises';
import { percentiles } from '../../bench/percentiles.js';
import type { Figure } from '../../bench/scenarios/scenario.js';
import {
  basic,
  registerAccount,
  registerWebhook,
  request,
  type Account,
  type ApiResponse,
} from '../../../support/client.js';
import { startReceiver } from '../../../support/receiver.js';
import { respondedWithin, notAccepted } from './figures.js';
import type { Fault, Injection } from './fault.js';

type Credentials = Pick<Account, 'accountKey' | 'email' | 'password'>;

const login = (url: string, { accountKey, email, password }: Credentials, ip: string): Promise<ApiResponse> =>
  request(`${url}/v1/login?key=${accountKey}`, {
    headers: { authorization: basic(email, password), 'x-forwarded-for': ip },
  });

async function inSequences(
  sequences: number,
  call: (n: number) => Promise<unknown>,
  goesOn: (n: number) => boolean,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (goesOn(next)) await call(next++);
  };
  await Promise.all(Array.from({ length: sequences }, lane));
}

const everyMs = 100;

/** Logs in at a steady rate, each user from another address; `Infinity` if refused. */
async function rightLogins(url: string, users: Account[], goesOn: () => boolean): Promise<number[]> {
  const durations: number[] = [];
  const open: Promise<void>[] = [];
  for (let n = 0; goesOn(); n += 1, await sleep(everyMs)) {
    const startedAt = performance.now();
    const one = async () => {
      const user = n % users.length;
      const response = await login(url, users[user]!, `192.0.2.${user}`).catch(() => null);
      durations.push(response?.httpStatus === 200 ? performance.now() - startedAt : Infinity);
    };
    open.push(one());
  }
  await Promise.all(open);
  return durations;
}

/** Sequentially, because each costs two hashes. */
async function usersOf(service: { url: string }, count: number): Promise<Account[]> {
  const users: Account[] = [];
  while (users.length < count) users.push(await registerAccount(service, `user${users.length}@example.com`));
  return users;
}

const lateShare = (name: string, durations: number[]): Figure => ({
  name,
  value: (100 * durations.filter((ms) => ms > 1_000).length) / durations.length,
  unit: '%',
  atMost: 1,
  note: `${durations.length} logins, p50 ${Math.round(percentiles(durations).p50)} ms`,
});

const orders: Pick<Fault, 'workers' | 'inFlight' | 'figures'> = {
  workers: 2,
  inFlight: 0,
  figures: (outcome) => [respondedWithin(outcome, 1_000), notAccepted(outcome)],
};

const guesses: Fault = {
  ...orders,
  name: 'B4',
  promise:
    '10,000 logins to one account from one address: at most 100 reach the hash; others log in within 1 s',
  inject: async ({ world: { service }, times, note }) => {
    const { url } = service;
    const [victim, ...others] = await usersOf(service, 10);
    const count = times(10_000);
    let hashed = 0;
    let over = false;
    const wrong = { ...victim!, password: 'wrong horse battery' };
    const attack = inSequences(
      40,
      async () => void (hashed += (await login(url, wrong, '198.51.100.1')).httpStatus === 401 ? 1 : 0),
      (n) => n < count,
    ).finally(() => (over = true));
    const durations = await rightLogins(url, others, () => !over);
    await attack;
    note({ name: `logins that reached the hash, of ${count}`, value: hashed, unit: '', atMost: 100 });
    const p99 = percentiles(durations).p99;
    note({ name: 'login p99 of other users', value: p99, unit: 'ms', atMost: 1_000 });
    note(await timeTold(url, others[0]!));
  },
};

/** The times for a known and an unknown e-mail; the least of several, to exclude load. */
async function timeTold(url: string, user: Account): Promise<Figure> {
  const least = async (email: string, ip: string) => {
    const durations: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      const startedAt = performance.now();
      await login(url, { ...user, email, password: 'wrong horse battery' }, ip);
      durations.push(performance.now() - startedAt);
    }
    return Math.min(...durations);
  };
  const [known, unknown] = [
    await least(user.email, '203.0.113.1'),
    await least('no@example.com', '203.0.113.2'),
  ];
  const value = Math.max(known / unknown, unknown / known);
  const note = `${known.toFixed(1)} and ${unknown.toFixed(1)} ms`;
  return { name: 'time for a known e-mail to time for an unknown one', value, unit: '×', atMost: 1.6, note };
}

const crowds: Fault = {
  ...orders,
  name: 'B7',
  promise:
    '40 logins with invented accounts kept in flight, from one address, then from 20: others log in within 1 s',
  inject: async ({ world: { service }, times, note }) => {
    const { url } = service;
    const users = await usersOf(service, 20);
    for (const [what, addresses, known] of [
      ['one address', 1, false],
      ['20 addresses', 20, false],
      ['20 addresses, known keys', 20, true],
    ] as const) {
      let over = false;
      const crowd = inSequences(
        40,
        async (n) => {
          const accountKey = known ? users[n % 20]!.accountKey : `ak_invented${n}`;
          const invented = { accountKey, email: `invented${n}@example.com`, password: 'wrong horse battery' };
          await login(url, invented, `198.51.${known ? 101 : 100}.${n % addresses}`).catch(() => null);
        },
        () => !over,
      );
      const until = performance.now() + Math.max(3, times(20)) * 1_000;
      const durations = await rightLogins(url, users, () => performance.now() < until);
      over = true;
      await crowd;
      note(lateShare(`logins of other users over 1 s, ${what}`, durations));
    }
  },
};

const hammers: Fault = {
  ...orders,
  name: 'B13',
  promise:
    'floods of tests, redeliveries and replays, of one webhook, then of 100 webhooks on one host: capped',
  inject: async (injection) => {
    const receiver = await startReceiver();
    try {
      await hammerOne(injection, receiver.url);
      await hammerTogether(injection, receiver.url);
    } finally {
      await receiver.close();
    }
  },
};

const tooMany = ({ httpStatus }: ApiResponse) => httpStatus === 429;

async function hammerOne({ world: { service }, times, note }: Injection, address: string): Promise<void> {
  const account = await registerAccount(service);
  const { webhookId } = await registerWebhook(account, address);
  const path = `/v1/webhooks/${webhookId}`;
  const first = await account.call(`${path}/test`, { body: {} });
  const range = { from: Date.now() - 60_000, to: Date.now() };
  const asked = [
    () => account.call(`${path}/test`, { body: {} }),
    () => account.call(`/v1/deliveries/${first.data.deliveryId}/redeliver`, { method: 'POST' }),
    () => account.call(`${path}/replay`, { body: range }),
  ];
  const count = Math.max(50, times(1_000));
  let passed = 1;
  await inSequences(
    4,
    async (n) => void (passed += tooMany(await asked[n % 3]!()) ? 0 : 1),
    (n) => n < 3 * count,
  );
  note({
    name: `requests accepted for one webhook, of ${count} of each kind`,
    value: passed,
    unit: '',
    atMost: 100,
  });
}

const tenants = 20;
const webhooksEach = 5;

async function hammerTogether(
  { world: { service }, times, note }: Injection,
  address: string,
): Promise<void> {
  const accounts = await usersOf(service, tenants);
  const asks: (() => Promise<ApiResponse>)[] = [];
  for (const account of accounts) {
    for (let n = 0; n < webhooksEach; n += 1) {
      const { webhookId } = await registerWebhook(account, `${address}/${n}`);
      asks.push(() => account.call(`/v1/webhooks/${webhookId}/test`, { body: {} }));
    }
  }
  const count = Math.max(8, times(20)) * asks.length;
  let passed = 0;
  await inSequences(
    4,
    async (n) => void (passed += tooMany(await asks[n % asks.length]!()) ? 0 : 1),
    (n) => n < count,
  );
  const name = `tests accepted for one host, of ${count} by ${tenants} shippers`;
  note({ name, value: passed, unit: '', atMost: 600 });
}

export const limitFaults: Fault[] = [guesses, crowds, hammers];
