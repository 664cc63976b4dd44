import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../support/client.js';
import { expectWrong } from '../../support/expect.js';
import { operatorToken, startService, type Service } from '../../support/harness.js';
import { programFile } from '../../support/program.js';
import { until } from '../../support/until.js';
import { orderDelivered, startHook } from '../../support/deliveries.js';

let service: Service;
let account: Account;

beforeAll(async () => {
  service = await startService();
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

const cli = async (...words: string[]) => {
  const given = ['--url', service.url, '--token', operatorToken, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, [
    programFile,
    'operator',
    ...words,
    ...given,
  ]);
  return JSON.parse(stdout) as Record<string, unknown>;
};

test('the command line rotates the key of the secrets', async () => {
  expect(await cli('secrets', 'rotate-key')).toEqual({ resealed: 0, unreadable: 0 });
});

test('the command line renews the feed: earlier cursors are void, and the audit log names the operator', async () => {
  const cursor = async () => (await account.call('/v1/events?after=latest')).data.nextCursor as string;
  const before = await cursor();
  expect(await cli('feed', 'renew')).toEqual({ renewedAt: expect.stringMatching(/\+00:00$/) });
  expectWrong(await account.call(`/v1/events?after=${before}`), ['after']);
  expect((await account.call(`/v1/events?after=${await cursor()}`)).httpStatus).toBe(200);
  expect(await cli('audit', '--action', 'FEED_RENEWED')).toMatchObject({
    entries: [{ actor: { kind: 'OPERATOR', name: 'operator' } }],
  });
});

test('the command line cancels a replay listed by status', async () => {
  const hook = await startHook(account, { status: 'PAUSED' });
  await orderDelivered(account, hook.webhookId);
  const body = { from: Date.now() - 60_000, to: Date.now(), status: 'HELD' };
  const replay = await account.call(`/v1/webhooks/${hook.webhookId}/replay`, { body });
  const replayId = replay.data.replayId as string;
  // It runs until the webhook is called again.
  await until('walked', async () => (await account.call(`/v1/replays/${replayId}`)).data.total === 1);
  const { data } = await operator(service, '/status');
  expect(data.replays).toMatchObject([
    { replayId, webhookId: hook.webhookId, total: 1, done: 0, status: 'RUNNING' },
  ]);
  const cancelled = await cli('replay', 'cancel', '--id', replayId);
  expect(cancelled).toMatchObject({ replayId, status: 'CANCELLED' });
  expect(await cli('replay', 'cancel', '--id', replayId)).toEqual(cancelled);
  await expect(cli('replay', 'cancel', '--id', hook.webhookId)).rejects.toThrow('NOT_FOUND');
  await hook.close();
});

test('status shows deliveries owed to webhooks that are not called, and the shippers owed most', async () => {
  const scene = async (email: string, hooks: number, orders: number) => {
    const own = await registerAccount(service, email);
    for (let n = 0; n < hooks; n += 1) {
      const { webhookId } = await registerWebhook(own, `http://127.0.0.1:9/${n}`, { status: 'PAUSED' });
      if (n > 0)
        await service.sql(`update webhooks set status = 'DISABLED' where webhook_id = $1`, [webhookId]);
    }
    for (let n = 0; n < orders; n += 1) await placeOrder(own);
    return own;
  };
  const little = await scene('little@example.com', 1, 2);
  const much = await scene('much@example.com', 2, 3);
  await scene('nothing@example.com', 0, 1);
  const uncalled = async () => (await operator(service, '/status')).data.uncalled;
  await until('everything is recorded', async () => (await uncalled()).deliveries === 8);
  const shipper = ({ shipperId }: Account, webhooks: number, deliveries: number) =>
    expect.objectContaining({ shipperId, name: expect.any(String), webhooks, deliveries, isMore: false });
  expect(await uncalled()).toEqual({
    deliveries: 8,
    isMore: false,
    webhooks: 3,
    shippers: [shipper(much, 2, 6), shipper(little, 1, 2)],
  });
  const given = ['status', '--url', service.url, '--token', operatorToken];
  const { stdout } = await promisify(execFile)(process.execPath, [programFile, 'operator', ...given]);
  expect(stdout).toMatch(/^uncalled\.deliveries +8$/m);
  expect(stdout).toMatch(new RegExp(`^${much.shipperId} +6 +2 .*\\n${little.shipperId} +2 +1 `, 'm'));
});

test.concurrent('the command line registers a shipper and its first user at once', async () => {
  const made = await cli('shipper', 'create', '--name', 'Acme', '--email', 'ana@acme.example');
  const text = expect.any(String);
  expect(made).toEqual({ shipperId: text, accountKey: text, userId: text, setPasswordUrl: text });
  const { status } = await fetch(made.setPasswordUrl as string);
  expect(status).toBe(200);
});

test.concurrent('no shipper is created for a first user whose address is none', async () => {
  const refused = cli('shipper', 'create', '--name', 'Nobody', '--email', 'not an address');
  await expect(refused).rejects.toThrow(/must be an e-mail address/);
  const { shippers } = (await operator(service, '/shippers?limit=250')).data;
  expect((shippers as { name: string }[]).map(({ name }) => name)).not.toContain('Nobody');
});

test.concurrent('the command line confirms before erasing a shipment, with y or yes only', async () => {
  const trackingId = await placeOrder(await registerAccount(service, 'own@example.com'));
  const erased = async () =>
    (await service.sql('select 1 from shipment_progress where erased_at is not null')).length > 0;
  const erase = (response: string, ...more: string[]) => {
    const given = ['--url', service.url, '--token', operatorToken, '--json', ...more];
    const words = ['shipment', 'erase', '--tracking-id', trackingId, ...given];
    const running = promisify(execFile)(process.execPath, [programFile, 'operator', ...words]);
    running.child.stdin!.end(response);
    return running;
  };
  await Promise.all(
    ['', 'n\n', 'yesterday\n', '\ny\n'].map((response) =>
      expect(erase(response)).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('[y/N]') }),
    ),
  );
  expect(await erased()).toBe(false);
  const { stdout } = await erase('YES\n');
  expect(JSON.parse(stdout)).toMatchObject({ trackingId });
  expect(await erased()).toBe(true);
  expect(JSON.parse((await erase('', '--yes')).stdout)).toEqual(JSON.parse(stdout));
});
