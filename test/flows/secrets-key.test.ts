import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { operator, registerAccount, registerWebhook, type Account } from '../client.js';
import { startProcess, startService, stopProcess, type Service } from '../harness.js';
import { runProgram } from '../program.js';
import { startReceiver } from '../receiver.js';
import { isRefused, lostKey } from '../wrong-starts.js';
import { startHook } from './support/log.js';
import { inTurn, until } from './support.js';

let service: Service;
let account: Account;
/** An api of another deployment, whose worker seals. */
let apart: Service;

const oldKey = 'old'.repeat(16);
const newKey = 'new'.repeat(16);

beforeAll(async () => {
  [service, apart] = await Promise.all([
    startService({ env: { SECRETS_KEY: oldKey } }),
    startService({ env: { SECRETS_KEY: newKey }, role: 'api' }),
  ]);
  account = await registerAccount(service);
});
afterAll(() => Promise.all([service?.stop(), apart?.stop()]));

const restart = async (env: Record<string, string>) => {
  await stopProcess(service.process);
  const running = await startProcess({ ...service.env, ...env });
  // The harness stops this one in the end.
  service.process = running;
  service.url = running.url;
};
const rotateKey = () => operator(service, '/secrets/rotate-key', { method: 'POST' });
const testOf = (webhookId: string, of = account) =>
  of.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });

interface Stored {
  secret: string;
  previous_secret: string | null;
  target_address: string;
  headers: Record<string, string>;
}

/** What begins everything that is sealed: its form and its key. */
const sealsOf = async (at = service) => {
  const rows = await at.sql<Stored>('select * from webhooks');
  const sealed = rows.flatMap((row) => [
    row.secret,
    ...(row.previous_secret === null ? [] : [row.previous_secret]),
    ...row.target_address.split('?').slice(1),
    ...Object.values(row.headers),
  ]);
  return [...new Set(sealed.map((text) => text.replace('•', '').split('.')[0]!))];
};

/** A webhook with a query and a header, as the version before the seals of both kept it. */
async function startPlainHook(at = service, of = account) {
  const receiver = await startReceiver();
  const { webhookId } = await registerWebhook(of, `${receiver.url}?token=abc`, {
    headers: { 'X-Own': 'value' },
  });
  await at.sql(
    `update webhooks set target_address = $2, headers = '{"X-Own": "value"}', revision = revision + 1
      where webhook_id = $1`,
    [webhookId, `${receiver.url}?token=abc`],
  );
  const expectCalled = async () => {
    expect(await testOf(webhookId, of)).toMatchObject({ httpStatus: 200, data: { statusCode: 200 } });
    expect(receiver.received.at(-1)).toMatchObject({
      path: '/hook?token=abc',
      headers: { 'x-own': 'value' },
    });
  };
  return { webhookId, expectCalled, close: receiver.close };
}

const turn = inTurn();

test.concurrent(
  'a worker seals what an earlier version kept in plain text, some time after its start',
  async () => {
    const plain = await startPlainHook(apart, await registerAccount(apart));
    expect((await sealsOf(apart)).length).toBeGreaterThan(1);
    const worker = await startProcess({ ...apart.env, TIME_SCALE: '0.01' }, 'worker');
    try {
      await until('all is sealed', async () => (await sealsOf(apart)).length === 1, 30_000);
    } finally {
      await stopProcess(worker);
    }
    await plain.expectCalled();
    await plain.close();
  },
);

test.concurrent(
  'the key of what is sealed is rotated: both open, then only the new one',
  turn(async () => {
    const hook = await startHook(account, { headers: { 'X-Own': 'value' } });
    const others = await Promise.all(Array.from({ length: 3 }, () => startHook(account)));
    const plain = await startPlainHook();
    await plain.expectCalled();
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
    expect((await rotateKey()).data).toEqual({ resealed: 1, unreadable: 0 }); // the plain one
    await plain.expectCalled();
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
    await restart({ SECRETS_KEY: newKey }); // the check value has gone over to it, too
    await sendTest();
    await plain.expectCalled();
    await Promise.all([hook, ...others, plain].map(({ close }) => close()));
  }),
);

test.concurrent(
  'a secret that no key opens stays as it is and is counted',
  turn(async () => {
    const hook = await startHook(account);
    const foreign = `update webhooks set secret = 'deadbeef.' || split_part(secret, '.', 2) || '.x.y' where webhook_id = $1`;
    await service.sql(foreign, [hook.webhookId]);
    expect((await rotateKey()).data).toEqual({ resealed: 0, unreadable: 1 });
    const [row] = await service.sql<{ secret: string }>('select secret from webhooks where webhook_id = $1', [
      hook.webhookId,
    ]);
    expect(row!.secret).toMatch(/^deadbeef\./);
    await hook.close();
  }),
);

test.concurrent(
  'an address that no key opens is shown without its query, and the other webhooks with theirs',
  turn(async () => {
    const fields = { interests: ['CREATED'], targetAddress: 'https://example.org/hook?token=abc' };
    const [lost, kept] = await Promise.all([1, 2].map(() => account.call('/v1/webhooks', { body: fields })));
    const foreign = `update webhooks set target_address = replace(target_address, '•2:', '•2:0') where webhook_id = $1`;
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
  }),
);

test.concurrent(
  'only an operator rotates the key',
  turn(async () => {
    const answer = await operator(service, '/secrets/rotate-key', {
      method: 'POST',
      headers: { authorization: `Bearer ${account.token}` },
    });
    expect(answer.httpStatus).toBe(401);
  }),
);
