import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { basic, operator, registerAccount, request, type Account } from '../../support/client.js';
import { operatorToken, startService, type Service } from '../../support/harness.js';
import { programFile } from '../../support/program.js';

let service: Service;
let account: Account;

beforeAll(async () => {
  service = await startService();
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

async function run(line: string, stdin = '') {
  const child = spawn(process.execPath, [programFile, 'operator', ...line.split(' ')], {
    env: { PATH: process.env.PATH, PARCELHOOK_URL: service.url, OPERATOR_TOKEN: operatorToken },
  });
  child.stdin.end(stdin);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  return { code, stdout, stderr };
}
const json = async (line: string): Promise<Record<string, unknown>> =>
  JSON.parse((await run(`${line} --json`)).stdout) as Record<string, unknown>;
const shipperIs = async (status: string) =>
  expect((await operator(service, `/shippers?status=${status}`)).data.shippers).toEqual(
    expect.arrayContaining([expect.objectContaining({ shipperId: account.shipperId })]),
  );

describe('the command line', () => {
  test('lists shippers and users: one per line, or JSON', async () => {
    await operator(service, '/shippers', { body: { name: 'Steers\u001b[2J\nterminals' } });
    const [{ stdout }, page, users] = await Promise.all([
      run('shipper list'),
      run('shipper list --limit 1'),
      json(`user list --id ${account.shipperId}`),
    ]);
    expect(stdout).toMatch(/^shipperId +status +createdAt +name\n/);
    expect(stdout).toContain('Steers\\u001b[2J terminals\n');
    expect(page.stdout).toMatch(/\nmore: --cursor \S+\n$/);
    expect(users).toEqual({
      users: [
        { userId: account.userId, email: account.email, hasPassword: true, createdAt: expect.any(String) },
      ],
      nextCursor: null,
    });
  });

  test('suspends and resumes a shipper', async () => {
    expect(await json(`shipper suspend --id ${account.shipperId}`)).toMatchObject({ status: 'SUSPENDED' });
    await shipperIs('SUSPENDED');
    expect(await json(`shipper resume --id ${account.shipperId}`)).toMatchObject({ status: 'ACTIVE' });
    await shipperIs('ACTIVE');
  });

  test('rotates an account key', async () => {
    const { accountKey } = await json(`shipper rotate-key --id ${account.shipperId} --overlap 1h`);
    const headers = { authorization: basic(account.email, account.password) };
    const login = await request(`${service.url}/v1/login?key=${String(accountKey)}`, { headers });
    expect(login.httpStatus).toBe(200);
    const wrong = await run(`shipper rotate-key --id ${account.shipperId} --overlap soon`);
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('overlap: must be a duration') });
  });

  test('signs a user out', async () => {
    const { userId } = account;
    expect(await json(`user sign-out --user ${userId}`)).toEqual({ userId });
    expect((await account.call('/v1/webhooks')).httpStatus).toBe(401);
  });

  test.each(['user remove --user', 'shipper remove --id'])(
    '%s asks for confirmation without --yes',
    async (line) => {
      const [id, path] = line.startsWith('user')
        ? [account.userId, `/shippers/${account.shipperId}/users`]
        : [account.shipperId, '/shippers?status=ACTIVE'];
      const isThere = async () => JSON.stringify((await operator(service, path)).data).includes(id);
      const refusals = ['', 'no\n', 'yesterday\n'].map((response) => run(`${line} ${id}`, response));
      for (const refusal of await Promise.all(refusals))
        expect(refusal).toMatchObject({ code: 2, stderr: expect.stringContaining('Nothing was done') });
      expect(await isThere()).toBe(true);
      expect(await run(`${line} ${id}`, 'yes\n')).toMatchObject({ code: 0 });
      expect(await isThere()).toBe(false);
      const again = await run(`${line} ${id} --yes`);
      expect(again.code).toBe(line.startsWith('user') ? 1 : 0); // the user is not found, the shipper stays removed
    },
  );

  test('shows the audit log with its filters', async () => {
    const [{ entries }, { stdout }, refused] = await Promise.all([
      json(`audit --id ${account.shipperId} --outcome DONE --from 2020-01-01`),
      run(`audit --id ${account.shipperId} --action USER_REMOVED`),
      run('audit --action SHIPPER_LOST'),
    ]);
    expect((entries as { action: string }[]).map(({ action }) => action)).toEqual([
      'SHIPPER_REMOVED',
      'USER_REMOVED',
      'USER_SIGNED_OUT',
      'ACCOUNT_KEY_ROTATED',
      'SHIPPER_RESUMED',
      'SHIPPER_SUSPENDED',
      'USER_CREATED',
      'SHIPPER_CREATED',
    ]);
    expect(stdout).toMatch(/\n\S+ +USER_REMOVED +DONE +1 +OPERATOR +operator +\S*127\.0\.0\.1 .*\n$/);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('action: must be one of SHIPPER_CREATED'),
    });
  });
});
