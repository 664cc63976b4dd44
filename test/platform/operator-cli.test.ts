import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hostname } from 'node:os';
import pg from 'pg';
import { buildInfo } from '../../src/platform/version.js';
import {
  basic,
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  request,
  sampleOrder,
  type Account,
} from '../support/client.js';
import { expectWrong, untilState } from '../support/expect.js';
import { operatorToken, startServiceToInspect, type Service } from '../support/harness.js';
import { until } from '../support/until.js';
import { orderDelivered, startHook } from '../support/deliveries.js';
import { runOperator } from './run-operator.js';

let service: Service;
let account: Account;

beforeAll(async () => {
  service = await startServiceToInspect();
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

const run = async (line: string, input = '') => {
  const env = { PARCELHOOK_URL: service.url, OPERATOR_TOKEN: operatorToken };
  const { code: exit, ...printed } = await runOperator(line.split(' '), env, input);
  return { exit, ...printed };
};
const json = async (line: string): Promise<Record<string, unknown>> =>
  JSON.parse((await run(`${line} --json`)).stdout) as Record<string, unknown>;

test('the command line rotates the key of the secrets', async () => {
  expect(await json('secrets rotate-key')).toEqual({ resealed: 0, unreadable: 0 });
});

test('the command line renews the feed: earlier cursors are void, and the audit log names the operator', async () => {
  const cursor = async () => (await account.call('/v1/events?after=latest')).data.nextCursor as string;
  const before = await cursor();
  expect(await json('feed renew')).toEqual({ renewedAt: expect.stringMatching(/\+00:00$/) });
  expectWrong(await account.call(`/v1/events?after=${before}`), ['after']);
  expect((await account.call(`/v1/events?after=${await cursor()}`)).httpStatus).toBe(200);
  expect(await json('audit --action FEED_RENEWED')).toMatchObject({
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
  const cancelled = await json(`replay cancel --id ${replayId}`);
  expect(cancelled).toMatchObject({ replayId, status: 'CANCELLED' });
  expect(await json(`replay cancel --id ${replayId}`)).toEqual(cancelled);
  const unknown = await run(`replay cancel --id ${hook.webhookId}`);
  expect(unknown).toMatchObject({ exit: 1, stderr: expect.stringContaining('NOT_FOUND') });
  await hook.close();
});

test('the command line pauses and resumes a webhook, limits its shipper, and sends again for it', async () => {
  const hook = await startHook(account);
  const { webhookId } = hook;
  expect(await json(`webhook pause --webhook ${webhookId}`)).toMatchObject({ pausedBy: 'OPERATOR' });
  expect((await run(`webhook resume --webhook ${webhookId}`)).stdout).toMatch(/^status +ACTIVE$/m);
  expect(await run('webhook pause')).toMatchObject({ exit: 2 });
  const deliveryId = await orderDelivered(account, webhookId);
  expect(await json(`redeliver --delivery ${deliveryId}`)).toEqual({ deliveryId });
  await hook.receiver.waitFor(2);
  const from = new Date(Date.now() - 60_000).toISOString();
  const waited = await json(`replay --webhook ${webhookId} --from ${from} --status FAILED --wait`);
  expect(waited).toMatchObject({ queued: 0 });
  const replay = await json(`redeliver --webhook ${webhookId} --from ${from}`);
  expect(await json(`replay show --id ${String(replay.replayId)}`)).toMatchObject({
    requestedBy: 'OPERATOR',
  });
  for (const wrong of ['redeliver', 'replay', `redeliver --delivery ${deliveryId} --webhook ${webhookId}`])
    expect(await run(wrong)).toMatchObject({ exit: 2, stdout: '' });
  expect(await run(`replay --webhook ${webhookId} --from x`)).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('from: '),
  });
  const shipper = `shipper limit --shipper ${account.shipperId}`;
  expect(await json(`${shipper} --rate 900 --concurrency 5`)).toMatchObject({
    rateLimit: 900,
    maxConcurrency: 5,
  });
  expect(await json(`${shipper} --rate none --concurrency none`)).toMatchObject({
    rateLimit: null,
    maxConcurrency: null,
  });
  expect(await run(shipper)).toMatchObject({ exit: 2 });
  expect(await run(`${shipper} --rate many`)).toMatchObject({ exit: 2 });
  await hook.close();
});

test('event load names the line of an event that cannot be stored, and records the others', async () => {
  const trackingId = await placeOrder(account);
  await untilState(account, trackingId, 'CREATED');
  const line = (rest: string) => `{"trackingId":"${trackingId}",${rest}}`;
  const lines = [
    line('"state":"PICKED_UP"'),
    line('"state":"IN_TRANSIT","evidences":[9007199254740993]'),
    line('"state":"IN_TRANSIT","constructor":1'),
    line('"state":"IN_TRANSIT"'),
  ];
  const { exit, stdout, stderr } = await run('event load -', lines.join('\n'));
  expect([exit, stdout]).toEqual([1, 'read      4\nrecorded  2\nrefused   2\n']);
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(/^line 2: INVALID_REQUEST: .*\(evidences\[0\]: .* would lose digits/),
    expect.stringMatching(/^line 3: INVALID_REQUEST: .*\(constructor: is not allowed\)$/),
  ]);
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
  const { stdout } = await run('status');
  expect(stdout).toMatch(/^Owed to webhooks that are not called\n {2}deliveries +8$/m);
  expect(stdout).toMatch(new RegExp(` +6 +2 +${much.shipperId}\\n.* +2 +1 +${little.shipperId}$`, 'm'));
});

test('status shows the processes that run, and what they were built from', async () => {
  const processes = async () => (await operator(service, '/status')).data;
  await until('it is registered', async () => (await processes()).processes.length === 1);
  const { processes: all, unread, backlog } = await processes();
  const text = expect.any(String);
  expect(all).toEqual([
    { role: 'all', host: hostname(), ...buildInfo, startedAt: text, seenAt: text, isAlive: true },
  ]);
  expect(unread).toEqual({});
  expect(backlog.waiting).toMatchObject({ receiver: 0 });
});

test('status leaves out a part whose table is locked, says so first, and shows the rest', async () => {
  const client = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await client.connect();
  await client.query('begin; lock table wrong_clocks in access exclusive mode');
  const [{ httpStatus, data }, { exit, stdout }] = await Promise.all([
    operator(service, '/status'),
    run('status'),
  ]);
  await client.end();
  expect(httpStatus).toBe(200);
  const reason = '55P03 canceling statement due to lock timeout';
  expect(data).toMatchObject({ processes: [{ role: 'all' }], unread: { clocks: reason } });
  expect([data.clocks, data.replays]).toEqual([undefined, expect.any(Array)]);
  expect({ exit, stdout }).toEqual({
    exit: 0,
    stdout: expect.stringMatching(new RegExp(`^Not read\\n  clocks +${reason}\\n\\nProcesses\\n`)),
  });
  expect(stdout).toMatch(/^Versions\n(.*\n)* {2}postgres +\d/m);
});

test('explain takes a delivery, a shipment, or the number that its shipper gave it', async () => {
  const account = await registerAccount(service, 'explained@example.com');
  const { webhookId } = await registerWebhook(account, 'http://127.0.0.1:1/', { status: 'PAUSED' });
  const body = { ...sampleOrder(), shipperTrackingId: 'ORDER-77' };
  const trackingId = (await account.call('/v1/shipments', { body })).data.trackingId as string;
  const held = async () => (await json(`explain --tracking-id ${trackingId}`)).explanations as unknown[];
  await until('it is held', async () => (await held()).length === 1);
  const [explained] = (await held()) as { deliveryId: string }[];
  expect(explained).toMatchObject({
    webhookId,
    trackingId,
    state: 'CREATED',
    waitsFor: [{ reason: 'PAUSED', until: null }],
  });
  const byNumber = `explain --shipper ${account.shipperId} --shipper-tracking-id ORDER-77`;
  expect(await json(byNumber)).toEqual(expect.objectContaining({ isMore: false }));
  const texts = await Promise.all([run(byNumber), run(`explain --delivery ${explained!.deliveryId}`)]);
  for (const { stdout } of texts) expect(stdout).toMatch(/paused.*\nNext: /);
  expect(texts[1].stdout).toMatch(new RegExp(`^  tracking id +${trackingId}$`, 'm'));
  expect(await run('explain --shipper-tracking-id ORDER-77')).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('Give --delivery, --tracking-id, or --shipper'),
  });
});

test('the command line registers a shipper and its first user at once', async () => {
  const made = await json('shipper create --name Acme --email ana@acme.example');
  const text = expect.any(String);
  expect(made).toEqual({ shipperId: text, accountKey: text, userId: text, setPasswordUrl: text });
  const { status } = await fetch(made.setPasswordUrl as string);
  expect(status).toBe(200);
});

test('no shipper is created for a first user whose address is none', async () => {
  const { stderr } = await run('shipper create --name Nobody --email nowhere');
  expect(stderr).toContain('must be an e-mail address');
  const { shippers } = (await operator(service, '/shippers?limit=250')).data;
  expect((shippers as { name: string }[]).map(({ name }) => name)).not.toContain('Nobody');
});

test('the command line confirms before erasing a shipment, with y or yes only', async () => {
  const trackingId = await placeOrder(await registerAccount(service, 'own@example.com'));
  const erased = async () =>
    (await service.sql('select 1 from shipment_progress where erased_at is not null')).length > 0;
  const erase = (response: string, more = '') =>
    run(`shipment erase --tracking-id ${trackingId} --json${more}`, response);
  for (const refusal of await Promise.all(['', 'n\n', 'yesterday\n', '\ny\n'].map((one) => erase(one))))
    expect(refusal).toMatchObject({ exit: 2, stderr: expect.stringContaining('[y/N]') });
  expect(await erased()).toBe(false);
  const { stdout } = await erase('YES\n');
  expect(JSON.parse(stdout)).toMatchObject({ trackingId });
  expect(await erased()).toBe(true);
  expect(JSON.parse((await erase('', ' --yes')).stdout)).toEqual(JSON.parse(stdout));
});

test('the command line repeats erasures after a restore, and says which lines it could not', async () => {
  const own = await registerAccount(service, 'restored@example.com');
  const trackingId = await placeOrder(own);
  const order = () =>
    service.sql<{ data: string }>('select order_data as data from shipments where tracking_id = $1', [
      trackingId,
    ]);
  await run(`shipment erase --tracking-id ${trackingId} --yes`);
  const erased = await order();
  await run(`user remove --user ${own.userId} --yes`);
  const exported = await run('erasures export --from 2020-01-01');
  const lines = exported.stdout.trimEnd().split('\n');
  expect(exported).toMatchObject({ exit: 0, stderr: `${lines.length} exported\n` });
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    expect.arrayContaining([
      {
        action: 'SHIPMENT_ERASED',
        at: expect.any(String),
        shipperId: own.shipperId,
        shipmentId: expect.any(String),
      },
      { action: 'USER_REMOVED', at: expect.any(String), shipperId: own.shipperId, userId: own.userId },
    ]),
  );
  const replay = (input: string) => run('erasures replay - --yes --json', input);
  // As an older backup has it: neither erased, nor with the mark.
  const restored = { ...JSON.parse(erased[0]!.data), recipientInformation: { fullName: 'Back' } };
  await service.sql('update shipments set order_data = $2 where tracking_id = $1', [
    trackingId,
    JSON.stringify(restored),
  ]);
  const done = await replay(exported.stdout);
  expect(done.exit).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({ read: lines.length, absent: 1, refused: 0 });
  expect((await order())[0]!.data).not.toContain('Back');
  const bad = await replay(`${lines[0]!}\n\nDROP\n{"action":"SHIPMENT_ERASED"}\n${'x'.repeat(5_000)}\n`);
  expect(bad).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/^line 3: is not.*\nline 4: .*\nline 5: .*\n$/),
  });
  expect(await run('erasures replay -', `${lines[0]!}\n`)).toMatchObject({ exit: 2 });
  expect(await run('erasures replay no-such-file --yes')).toMatchObject({ exit: 2 });
});

const shipperIs = async (status: string) =>
  expect((await operator(service, `/shippers?status=${status}`)).data.shippers).toEqual(
    expect.arrayContaining([expect.objectContaining({ shipperId: account.shipperId })]),
  );

// The last tests, because they end what they have registered.
test('the command line lists shippers and users: one per line, or JSON', async () => {
  account = await registerAccount(service, 'ends@example.com');
  await operator(service, '/shippers', { body: { name: 'Steers\u001b[2J\nterminals\u009b2J\u202e' } });
  const [{ stdout }, page, users, asJson] = await Promise.all([
    run('shipper list'),
    run('shipper list --limit 1'),
    json(`user list --id ${account.shipperId}`),
    run('shipper list --json'),
  ]);
  expect(stdout).toMatch(/^shipper id +status +created at +name\n/);
  expect(stdout).toContain('Steers\\u001b[2J terminals\\u009b2J\\u202e\n');
  expect(asJson.stdout).toContain(String.raw`"Steers\u001b[2J\nterminals\u009b2J\u202e"`);
  expect(page.stdout).toMatch(/\nmore: --cursor \S+\n$/);
  expect(users).toEqual({
    users: [
      { userId: account.userId, email: account.email, hasPassword: true, createdAt: expect.any(String) },
    ],
    nextCursor: null,
  });
});

test('the command line suspends and resumes a shipper', async () => {
  expect(await json(`shipper suspend --id ${account.shipperId}`)).toMatchObject({ status: 'SUSPENDED' });
  await shipperIs('SUSPENDED');
  expect(await json(`shipper resume --id ${account.shipperId}`)).toMatchObject({ status: 'ACTIVE' });
  await shipperIs('ACTIVE');
});

test('the command line makes a link that opens the portal of a shipper', async () => {
  const linkForm = new RegExp(`^${service.url}/support\\?token=[\\w-]{43}$`);
  const { exit, stdout } = await run(`shipper portal-link --id ${account.shipperId}`);
  const link = /^link +(\S+)\n\n.* within 15 minutes\. .* for an hour\.\n$/.exec(stdout)?.[1];
  expect({ exit, link }).toEqual({ exit: 0, link: expect.stringMatching(linkForm) });
  const page = await fetch(link!);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('read-only')]);
  expect(await json(`shipper portal-link --shipper ${account.shipperId}`)).toEqual({
    url: expect.stringMatching(linkForm),
  });
  for (const id of ['x', '018f0000-0000-7000-8000-000000000000'])
    expect(await run(`shipper portal-link --id ${id}`)).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: expect.stringContaining('404 NOT_FOUND: This shipper was not found.'),
    });
  expect(await run('shipper portal-link')).toMatchObject({ exit: 2, stdout: '' });
  expect(await run('shipper portal-link --help')).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/read-only[^]*--id, --shipper <id>[^]*Example:.*\n.* portal-link </),
  });
});

test('the command line rotates an account key', async () => {
  const { accountKey } = await json(`shipper rotate-key --id ${account.shipperId} --overlap 1h`);
  const headers = { authorization: basic(account.email, account.password) };
  const login = await request(`${service.url}/v1/login?key=${String(accountKey)}`, { headers });
  expect(login.httpStatus).toBe(200);
  const wrong = await run(`shipper rotate-key --id ${account.shipperId} --overlap soon`);
  expect(wrong).toMatchObject({ exit: 1, stderr: expect.stringContaining('overlap: must be a duration') });
});

test('the command line signs a user out', async () => {
  const { userId } = account;
  expect(await json(`user sign-out --user ${userId}`)).toEqual({ userId });
  expect((await account.call('/v1/webhooks')).httpStatus).toBe(401);
});

test.each(['user remove --user', 'shipper remove --id'])(
  'the command line asks for confirmation of %s without --yes',
  async (line) => {
    const [id, path] = line.startsWith('user')
      ? [account.userId, `/shippers/${account.shipperId}/users`]
      : [account.shipperId, '/shippers?status=ACTIVE'];
    const isThere = async () => JSON.stringify((await operator(service, path)).data).includes(id);
    const refusals = ['', 'no\n', 'yesterday\n'].map((response) => run(`${line} ${id}`, response));
    for (const refusal of await Promise.all(refusals))
      expect(refusal).toMatchObject({ exit: 2, stderr: expect.stringContaining('Nothing was done') });
    expect(await isThere()).toBe(true);
    expect(await run(`${line} ${id}`, 'yes\n')).toMatchObject({ exit: 0 });
    expect(await isThere()).toBe(false);
    const again = await run(`${line} ${id} --yes`);
    expect(again.exit).toBe(line.startsWith('user') ? 1 : 0); // the user is not found, the shipper stays removed
  },
);

test('the command line shows the audit log with its filters', async () => {
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
    'SUPPORT_LINK_CREATED',
    'SHIPPER_RESUMED',
    'SHIPPER_SUSPENDED',
    'USER_CREATED',
    'SHIPPER_CREATED',
  ]);
  expect(stdout).toMatch(/\n\S+ +USER_REMOVED +DONE +1 +OPERATOR +operator +\S*127\.0\.0\.1 .*\n$/);
  expect(refused).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('action: must be one of SHIPPER_CREATED'),
  });
});
