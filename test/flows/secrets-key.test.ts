import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { operator, registerAccount, type Account } from '../client.js';
import { startProcess, startService, stopProcess, type Service } from '../harness.js';
import { startHook } from './support/log.js';

let service: Service;
let account: Account;

const oldKey = 'old'.repeat(16);
const newKey = 'new'.repeat(16);

beforeAll(async () => {
  service = await startService({ env: { SECRETS_KEY: oldKey } });
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

const restart = async (env: Record<string, string>) => {
  await stopProcess(service.process);
  const running = await startProcess({ ...service.env, ...env });
  // The harness stops this one in the end.
  service.process = running;
  service.url = running.url;
};
const rotateKey = () => operator(service, '/secrets/rotate-key', { method: 'POST' });

test('the key of the secrets is rotated: both open, then only the new one', async () => {
  const hook = await startHook(account);
  const others = await Promise.all(Array.from({ length: 3 }, () => startHook(account)));
  const rotated = await account.call(`/v1/webhooks/${hook.webhookId}/rotate-secret`, { method: 'POST' });
  const current = rotated.data.secret as string;
  const sendTest = async () => {
    const answer = await account.call(`/v1/webhooks/${hook.webhookId}/test`, { method: 'POST' });
    expect(answer).toMatchObject({ httpStatus: 200, data: { statusCode: 200 } });
    const { body, headers } = hook.receiver.received.at(-1)!;
    for (const secret of [current, hook.secret])
      new Webhook(secret).verify(body, headers as Record<string, string>);
  };
  const sealedWith = async () =>
    (
      await service.sql<{ key: string }>(
        `select distinct split_part(sealed, '.', 1) as key
           from webhooks, unnest(array[secret, previous_secret]) as sealed where sealed is not null`,
      )
    ).map(({ key }) => key);

  await sendTest();
  const [oldId] = await sealedWith();
  await restart({ SECRETS_KEY: newKey, SECRETS_KEY_PREVIOUS: oldKey });
  await sendTest();
  expect(await sealedWith()).toEqual([oldId]);
  expect(await rotateKey()).toMatchObject({ httpStatus: 200, data: { resealed: 4, unreadable: 0 } });
  const ids = await sealedWith();
  expect(ids).toHaveLength(1);
  expect(ids).not.toEqual([oldId]);
  expect((await rotateKey()).data).toEqual({ resealed: 0, unreadable: 0 });
  await sendTest();
  await restart({ SECRETS_KEY: newKey });
  await sendTest();
  await Promise.all([hook, ...others].map(({ close }) => close()));
});

test('a secret that no key opens stays as it is and is counted', async () => {
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

test('only an operator rotates the key', async () => {
  const answer = await operator(service, '/secrets/rotate-key', {
    method: 'POST',
    headers: { authorization: `Bearer ${account.token}` },
  });
  expect(answer.httpStatus).toBe(401);
});
