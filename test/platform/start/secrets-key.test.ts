import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { operator, registerAccount, registerWebhook, type Account } from '../../support/client.js';
import { startProcess, startServiceToBreak, stopProcess, type Service } from '../../support/harness.js';
import { runProgram } from '../../support/program.js';
import { startReceiver } from '../../support/receiver.js';
import { isRefused, lostKey } from '../../support/wrong-starts.js';
import { startHook } from '../../support/deliveries.js';

let service: Service;
let account: Account;

const oldKey = 'old'.repeat(16);
const newKey = 'new'.repeat(16);

beforeAll(async () => {
  service = await startServiceToBreak({ SECRETS_KEY: oldKey });
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

const restart = async (env: Record<string, string>) => {
  await stopProcess(service.process);
  const running = await startProcess({ ...service.env, ...env });
  // The harness stops this one at the end.
  service.process = running;
  service.url = running.url;
};
const rotateKey = () => operator(service, '/secrets/rotate-key', { method: 'POST' });
const testOf = (webhookId: string) => account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });

interface Stored {
  secret: string;
  earlier_secrets: { secret: string }[];
  target_address: string;
  headers: Record<string, string>;
}

const sealsOf = async () => {
  const rows = await service.sql<Stored>('select * from webhooks');
  const sealed = rows.flatMap((row) => [
    row.secret,
    ...row.earlier_secrets.map(({ secret }) => secret),
    ...row.target_address.split('?').slice(1),
    ...Object.values(row.headers),
  ]);
  return [...new Set(sealed.map((text) => text.split('.')[0]!))];
};

test('the sealing key is rotated: both open, then only the new one', async () => {
  const hook = await startHook(account, { headers: { 'X-Own': 'value' } });
  const others = await Promise.all(Array.from({ length: 3 }, () => startHook(account)));
  const receiver = await startReceiver();
  const withQuery = await registerWebhook(account, `${receiver.url}?token=abc`);
  const sendWithQuery = async () => {
    expect(await testOf(withQuery.webhookId)).toMatchObject({ data: { statusCode: 200 } });
    expect(receiver.received.at(-1)!.path).toBe('/hook?token=abc');
  };
  await sendWithQuery();
  const rotated = await account.call(`/v1/webhooks/${hook.webhookId}/rotate-secret`, { method: 'POST' });
  const current = rotated.data.secret as string;
  const sendTest = async () => {
    expect(await testOf(hook.webhookId)).toMatchObject({ httpStatus: 200, data: { statusCode: 200 } });
    const { body, headers } = hook.receiver.received.at(-1)!;
    expect(headers).toMatchObject({ 'x-own': 'value' });
    for (const secret of [current, hook.secret])
      new Webhook(secret).verify(body, headers as Record<string, string>);
  };

  await sendTest();
  expect((await rotateKey()).data).toEqual({ resealed: 0, unreadable: 0 });
  await sendWithQuery();
  const [oldId, ...more] = await sealsOf();
  expect(more).toEqual([]);
  await restart({ SECRETS_KEY: newKey, SECRETS_KEY_PREVIOUS: oldKey });
  await sendTest();
  expect(await sealsOf()).toEqual([oldId]);
  const tooEarly = await runProgram(['api'], { ...service.env, SECRETS_KEY: newKey });
  expect({ ...tooEarly, isRefused: isRefused(tooEarly, lostKey) }).toMatchObject({ isRefused: true });
  expect(await rotateKey()).toMatchObject({ httpStatus: 200, data: { resealed: 5, unreadable: 0 } });
  const previousOnly = await runProgram(['api'], service.env);
  expect({ ...previousOnly, isRefused: isRefused(previousOnly, lostKey) }).toMatchObject({
    isRefused: true,
  });
  const ids = await sealsOf();
  expect(ids).toHaveLength(1);
  expect(ids).not.toEqual([oldId]);
  expect((await rotateKey()).data).toEqual({ resealed: 0, unreadable: 0 });
  await sendTest();
  await restart({ SECRETS_KEY: newKey }); // the check value is sealed with the new key, too
  await sendTest();
  await sendWithQuery();
  await Promise.all([hook, ...others, receiver].map(({ close }) => close()));
}, 90_000);

test('the previous key is required until everything is resealed, and not afterwards', async () => {
  const hook = await startHook(account);
  const last = 'last'.repeat(8);
  const secretOf = 'update webhooks set secret = $2 where webhook_id = $1';
  const [kept] = await service.sql<Stored>('select * from webhooks where webhook_id = $1', [hook.webhookId]);
  await restart({ SECRETS_KEY: last, SECRETS_KEY_PREVIOUS: newKey });
  await service.sql(secretOf, [hook.webhookId, 'deadbeef.x.y']);
  const check = () => service.sql<{ sealed: string }>('select sealed from key_check');
  const before = await check();
  expect((await rotateKey()).data).toMatchObject({ unreadable: 1 });
  expect(await check()).toEqual(before);
  const tooEarly = await runProgram(['api'], { ...service.env, SECRETS_KEY: last });
  expect({ ...tooEarly, isRefused: isRefused(tooEarly, lostKey) }).toMatchObject({ isRefused: true });
  await service.sql(secretOf, [hook.webhookId, kept!.secret]);
  expect((await rotateKey()).data).toEqual({ resealed: 1, unreadable: 0 });
  await restart({ SECRETS_KEY: last });
  expect(await testOf(hook.webhookId)).toMatchObject({ data: { statusCode: 200 } });
  await hook.close();
});

test('a secret that no key opens stays unchanged and is counted', async () => {
  const hook = await startHook(account);
  const foreign = `update webhooks set secret = 'deadbeef.' || split_part(secret, '.', 2) || '.x.y' where webhook_id = $1`;
  await service.sql(foreign, [hook.webhookId]);
  expect((await rotateKey()).data).toEqual({ resealed: 0, unreadable: 1 });
  const [row] = await service.sql<{ secret: string }>('select secret from webhooks where webhook_id = $1', [
    hook.webhookId,
  ]);
  expect(row!.secret).toMatch(/^deadbeef\./);
  await hook.close();
});

test('an address that no key opens is shown without its query, and other webhooks with theirs', async () => {
  const fields = { interests: ['CREATED'], targetAddress: 'https://example.org/hook?token=abc' };
  const [lost, kept] = await Promise.all([1, 2].map(() => account.call('/v1/webhooks', { body: fields })));
  const foreign = `update webhooks set target_address = replace(target_address, '?1:', '?1:0') where webhook_id = $1`;
  await service.sql(foreign, [lost!.data.webhookId]);
  const { data } = await account.call('/v1/webhooks?limit=250');
  const shown = new Map(
    (data.webhooks as { webhookId: string; targetAddress: string }[]).map((hook) => [
      hook.webhookId,
      hook.targetAddress,
    ]),
  );
  expect(shown.get(lost!.data.webhookId as string)).toBe('https://example.org/hook');
  expect(shown.get(kept!.data.webhookId as string)).toBe('https://example.org/hook?token=abc');
});

test('only an operator rotates the key', async () => {
  const response = await operator(service, '/secrets/rotate-key', {
    method: 'POST',
    headers: { authorization: `Bearer ${account.token}` },
  });
  expect(response.httpStatus).toBe(401);
});
