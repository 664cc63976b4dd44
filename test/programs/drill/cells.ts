import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../../support/redis.js';
import {
  basic,
  callAsPortal,
  logInToPortal,
  newProgram,
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  request,
  type Account,
} from '../../support/client.js';
import { accountAt } from '../../support/deployment.js';
import { operatorToken, startProcess, stopProcess, type RunningProcess } from '../../support/process.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { until } from '../bench/scenarios/scenario.js';
import type { Closing } from '../chaos/world/engines.js';
import type { Drill, DrillOptions, Scene } from './drill.js';

const haproxy = '/usr/sbin/haproxy';
const files = resolve('docs/scaling');
const ordersOfEach = 50;

interface Cell {
  name: string;
  process: RunningProcess;
  account: Account;
}

/** Each cell has its own PostgreSQL and secrets; HAProxy runs with the file of docs/scaling. */
export const cells: Drill = {
  promise: 'two cells behind one address; one goes down, the other notices nothing',
  programs: [{ file: haproxy, debian: 'haproxy' }],
  run: async ({ folder, closing, say }: DrillOptions) => {
    const processes = [
      await startCell(folder, 'eu', closing),
      await startCell(folder, 'us', closing),
    ] as const;
    say('both cells run');
    const url = await startProxy(processes, closing);
    const receiver = await startReceiver();
    closing.push(() => receiver.close());
    const [eu, us] = [await open('eu', processes[0], url), await open('us', processes[1], url)];
    for (const { account } of [eu, us]) await registerWebhook(account, receiver.url);
    say('both have an account');
    return [await together([eu, us], url, receiver), await oneDown(eu, us, url, receiver)];
  },
};

async function startCell(folder: string, name: string, closing: Closing): Promise<RunningProcess> {
  const DATA_DIR = join(folder, name);
  mkdirSync(DATA_DIR);
  const env = { CELL: name, DATA_DIR, PORT: '0', OPERATOR_TOKEN: operatorToken, TRUST_PROXY: 'loopback' };
  const cell = await startProcess(env);
  closing.push(() => stopProcess(cell));
  await until(
    'the cell is ready',
    30_000,
    async () => (await request(`${cell.url}/readyz`)).httpStatus === 200,
  );
  return cell;
}

async function startProxy(
  [eu, us]: readonly [RunningProcess, RunningProcess],
  closing: Closing,
): Promise<string> {
  const CELLS_BIND = `127.0.0.1:${await freePort()}`;
  const env = {
    CELLS_BIND,
    CELLS_MAP: join(files, 'cells.map'),
    CELL_EU: new URL(eu.url).host,
    CELL_US: new URL(us.url).host,
  };
  const child = spawn(haproxy, ['-db', '-f', join(files, 'haproxy.cfg')], { env, stdio: 'ignore' });
  closing.push(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const url = `http://${CELLS_BIND}`;
  await until('HAProxy passes requests on', 10_000, async () => {
    const statuses = ['eu', 'us'].map((cell) =>
      request(`${url}/v1/session?key=ak_${cell}_${'x'.repeat(27)}`, {
        headers: { 'sec-fetch-site': 'same-origin' },
      })
        .then(({ httpStatus }) => httpStatus)
        .catch(() => 503),
    );
    return (await Promise.all(statuses)).every((status) => status < 500);
  });
  return url;
}

/** The operator talks to the cell itself; the shipper only to the proxy. */
async function open(name: string, process: RunningProcess, url: string): Promise<Cell> {
  return { name, process, account: accountAt(await registerAccount(process), { url }) };
}

/** The portal with the cookies of its login, tokens of users and programs, password links, orders and tracking: each reaches its own cell. */
async function together(both: Cell[], url: string, receiver: Receiver): Promise<Scene> {
  const startedAt = performance.now();
  const violations: string[] = [];
  const check = (holds: boolean, what: string) => void (holds || violations.push(what));
  const placed: string[] = [];
  for (const { name, account, process } of both) {
    const { accountKey, shipperId, userId } = account;
    check(accountKey.startsWith(`ak_${name}_`), `${name}: the account key has no cell`);
    const mine = await Promise.all(Array.from({ length: ordersOfEach }, () => placeOrder(account)));
    placed.push(...mine);
    check(
      mine.every((id) => id.startsWith(`PH${name.toUpperCase()}`)),
      `${name}: a tracking id has no cell`,
    );
    const tracked = await account.call(`/v1/shipment-tracking/${mine[0]}`);
    check(tracked.httpStatus === 200, `${name}: tracking is ${tracked.httpStatus}`);
    const program = await newProgram({ url }, account, { scopes: ['orders'] });
    const { httpStatus } = await program.call(`/v1/shipment-tracking/${mine[0]}`);
    check(httpStatus === 200, `${name}: the token of a program gets ${httpStatus}`);
    const { headers } = await logInToPortal({ url }, account);
    const cookies = headers.getSetCookie().map((cookie) => cookie.split(';')[0]!);
    check(cookies.includes(`parcelhook-cell=${name}`), `${name}: the login to the portal sets no cell`);
    const cookie = cookies.join('; ');
    const session = await callAsPortal({ url }, cookie, '/v1/session');
    check(session.data?.shipper?.shipperId === shipperId, `${name}: the portal is not logged in`);
    const shipments = await callAsPortal({ url }, cookie, '/v1/shipments');
    check(shipments.data?.shipments?.length > 0, `${name}: the portal shows no shipment`);

    const link = await operator(process, `/users/${userId}/password-link`, { body: {} });
    const { search, searchParams } = new URL(link.data.setPasswordUrl as string);
    const page = await request(`${url}/set-password${search}`);
    check(page.httpStatus === 200, `${name}: the page of a password link is ${page.httpStatus}`);
    const body = { token: searchParams.get('token'), password: account.password };
    const set = await request(`${url}/set-password`, {
      raw: new URLSearchParams(body as Record<string, string>).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    check(set.httpStatus === 200, `${name}: setting a password is ${set.httpStatus}`);
    const token = await logIn(account, url);
    check(token !== null, `${name}: the new password does not log in`);
    Object.assign(account, accountAt({ ...account, token: token ?? '' }, { url }));
  }
  const pages = await request(`${url}/`);
  check(pages.httpStatus === 200, `the portal's page is ${pages.httpStatus}`);
  for (const path of ['/operator/v1/status', '/metrics', '/readyz'])
    check((await request(`${url}${path}`)).httpStatus === 404, `${path} is reached from outside`);
  const stranger = await both[0]!.account.call('/v1/webhooks', {
    headers: { authorization: `Bearer ${both[1]!.account.token}` },
  });
  check(stranger.httpStatus === 401, `a token of the other cell gets ${stranger.httpStatus}`);
  const lost = await countLost(placed, receiver);
  const twice = countTwice(receiver);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { name: 'both cells serve', accepted: placed.length, lost, twice, seconds, figures: [], violations };
}

async function logIn(account: Account, url: string): Promise<string | null> {
  const login = await request(`${url}/v1/login?key=${account.accountKey}`, {
    headers: { authorization: basic(account.email, account.password) },
  });
  return login.httpStatus === 200 ? (login.data.token as string) : null;
}

async function oneDown(down: Cell, up: Cell, url: string, receiver: Receiver): Promise<Scene> {
  const startedAt = performance.now();
  const violations: string[] = [];
  const placed: string[] = [];
  const tookMs: number[] = [];
  let isOver = false;
  const load = (async () => {
    while (!isOver) {
      const at = performance.now();
      placed.push(
        await placeOrder(up.account).catch((error: unknown) => (violations.push(String(error)), '')),
      );
      tookMs.push(performance.now() - at);
    }
  })();
  await stopProcess(down.process);
  const refused = await down.account.call('/v1/webhooks');
  if (refused.httpStatus !== 503) violations.push(`the stopped cell responds ${refused.httpStatus}`);
  if (!(refused.body as unknown as { error?: object }).error)
    violations.push('its 503 is not of the API’s form');
  await until(
    'the portal’s page is served by the other cell',
    10_000,
    async () => (await request(`${url}/`)).httpStatus === 200,
  );
  await until('fifty orders', 30_000, () => placed.length >= ordersOfEach);
  isOver = true;
  await load;
  const accepted = placed.filter(Boolean);
  const slowest = Math.max(...tookMs);
  return {
    name: `${down.name} is down, ${up.name} is untouched`,
    accepted: accepted.length,
    lost: await countLost(accepted, receiver),
    twice: countTwice(receiver),
    seconds: (performance.now() - startedAt) / 1_000,
    figures: [{ name: 'slowest order of the other cell', value: slowest, unit: 'ms', atMost: 5_000 }],
    violations,
  };
}

async function countLost(trackingIds: string[], { received }: Receiver): Promise<number> {
  const arrived = () => new Set(received.map(({ notification }) => notification.tracking_id));
  const missing = () => trackingIds.filter((id) => !arrived().has(id)).length;
  await until('all are received', 30_000, () => missing() === 0).catch(() => undefined);
  return missing();
}

const countTwice = ({ received }: Receiver): number =>
  received.length - new Set(received.map(({ headers }) => headers['webhook-id'])).size;
