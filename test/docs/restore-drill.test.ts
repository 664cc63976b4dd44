/** The runbook's drills, by its own commands: what was kept is there, and nobody reads on from what is gone. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import pg from 'pg';
import { expectWrong, untilState } from '../support/expect.js';
import { postgresIn, sql, type Closing } from '../programs/chaos/world/engines.js';
import { operator, placeOrder, registerAccount, registerWebhook, type Account } from '../support/client.js';
import { deployment, newFolder, type Folder } from '../support/deployment.js';
import { until } from '../support/until.js';
import { operatorToken, startProcess, stopProcess, type RunningProcess } from '../support/process.js';
import { startReceiver, type Received, type Receiver } from '../support/receiver.js';
import { installedPostgres, ownPostgres, type OwnPostgres } from './own-postgres.js';
import { commandsUnder, inEachForm } from './runbook.js';
import { openShell, type Shell } from './shell.js';

if (!installedPostgres)
  console.warn(
    "\n  NO PostgreSQL with pg_dump AND pg_basebackup (Debian's postgresql): the restore drills are LEFT OUT.\n",
  );

(installedPostgres ? describe : describe.skip)('a restore by the steps of the runbook', () => {
  let folder: Folder;
  let postgres: OwnPostgres;
  let receiver: Receiver;
  let env: Record<string, string>;
  let service: RunningProcess;
  let account: Account;
  let shell: Shell;
  const closing: Closing = [];

  beforeAll(async () => {
    folder = newFolder();
    postgres = await ownPostgres(installedPostgres!, folder.path);
    receiver = await startReceiver();
    env = deployment(postgres.url, { RETRY_SCHEDULE: Array(50).fill('2s').join() });
    service = await startProcess(env);
    account = await registerAccount(service);
    await registerWebhook(account, receiver.url);
    const { port, hostname, username, password } = new URL(postgres.url);
    shell = openShell(
      {
        OWNER_URL: postgres.url,
        ADMIN_URL: postgres.url.replace(/parcelhook$/, 'postgres'),
        REPLICATION_URL: postgres.url.replace(/parcelhook$/, 'postgres'),
        OPERATOR_TOKEN: operatorToken,
        PGDATA: postgres.dataFolder,
        ...{ PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password },
        PORT: '0',
      },
      (name) => {
        if (name === 'logFile') return shell.logFile;
        if (name !== 'pid') throw new Error(`<${name}> has no value in a drill`);
        return String(service.pid);
      },
      [`${installedPostgres}/bin`],
    );
  });
  afterAll(async () => {
    if (service) await stopProcess(service);
    for (const close of closing.reverse()) await close();
    await receiver?.close();
    await postgres?.stop();
    shell?.remove();
    folder?.remove();
  });

  const run = async (command: string) => {
    const addressed = `export PARCELHOOK_URL=${service.url}; ${command}`;
    const { exit, stdout, stderr } = await shell.run(addressed);
    expect({ command, exit, stderr }).toEqual({ command, exit: 0, stderr: expect.any(String) });
    return stdout;
  };
  /** Runs a step in all its forms; returns what they print. */
  const stepsOf = (heading: string, count: number) => {
    const steps = commandsUnder(heading);
    expect(steps).toHaveLength(count); // a new one needs its place below
    return async (index: number) => {
      const printed: string[] = [];
      for (const command of steps[index]!.flatMap(inEachForm)) printed.push(await run(command));
      return printed;
    };
  };

  const cursorNow = async () => (await account.call('/v1/events?after=latest')).data.nextCursor as string;
  const isOf = (trackingId: string) => (request: Received) => request.notification.tracking_id === trackingId;
  const logOf = async (trackingId: string) =>
    (await account.call(`/v1/deliveries?trackingId=${trackingId}`)).data.deliveries as { status: string }[];
  const startAgain = async () => {
    service = await startProcess({ ...env, PORT: new URL(service.url).port });
    await until('ready', async () => (await fetch(`${service.url}/readyz`)).status === 200, 30_000);
  };

  /** One notification delivered, one owed whose receiver fails; both are in the backup. */
  async function before() {
    receiver.reply = () => ({});
    const delivered = await placeOrder(account);
    await receiver.waitFor(1, isOf(delivered));
    await until('in the log', async () => (await logOf(delivered))[0]?.status === 'SUCCEEDED');
    receiver.reply = () => ({ status: 500 });
    const owed = await placeOrder(account);
    const [attempt] = await receiver.waitFor(1, isOf(owed));
    return { delivered, owed, webhookId: attempt!.headers['webhook-id'], cursor: await cursorNow() };
  }

  /** An order placed after the backup: gone with the restore. */
  async function meanwhile() {
    const lost = await placeOrder(account);
    await untilState(account, lost, 'CREATED');
    return lost;
  }

  const erase = (trackingId: string) =>
    operator(service, `/shipments/${trackingId}/erase`, { method: 'POST' });
  const recipientOf = async (trackingId: string) => {
    const text = `select order_data::json -> 'recipientInformation' ->> 'fullName' as name
                    from shipments where tracking_id = $1`;
    return (await sql<{ name: string }>(postgres.url, text, [trackingId]))[0]?.name;
  };

  type Kept = Awaited<ReturnType<typeof before>>;
  async function expectKept({ delivered, owed, webhookId }: Kept, lost: string | null, restoredAt: number) {
    for (const trackingId of [delivered, owed]) await untilState(account, trackingId, 'CREATED');
    expect((await logOf(delivered)).map(({ status }) => status)).toEqual(['SUCCEEDED']);
    if (lost) expect((await account.call(`/v1/shipment-tracking/${lost}`)).httpStatus).toBe(404);
    const [again] = await receiver.waitFor(1, (request) => isOf(owed)(request) && request.at >= restoredAt);
    expect(again!.headers['webhook-id']).toBe(webhookId);
    await until('in the log', async () => (await logOf(owed))[0]?.status === 'SUCCEEDED');
    // Orders go on, and reach the receiver.
    await receiver.waitFor(1, isOf(await placeOrder(account)));
  }

  test('from a dump: orders and deliveries are there, what was owed goes out, earlier cursors are refused, and what was erased is erased again', async () => {
    const step = stepsOf('Restore from a dump', 8);
    const kept = await before();
    await step(0);
    expect(Number((await step(1))[0])).toBeGreaterThan(20);
    const lost = await meanwhile();
    for (const trackingId of [kept.delivered, lost]) expect((await erase(trackingId)).httpStatus).toBe(200);
    for (const command of inEachForm('operator erasures export > erasures.ndjson')) await run(command);
    await step(2);
    expect(await service.exited).toBe(0);
    const dashboard = new pg.Client({ connectionString: postgres.url });
    dashboard.on('error', () => undefined); // the restore ends its session
    await dashboard.connect();
    await step(3);
    receiver.reply = () => ({});
    const restoredAt = Date.now();
    await startAgain();
    await step(4);
    // The service, without being asked, sees that it is another database.
    expectWrong(await account.call(`/v1/events?after=${kept.cursor}`), ['after']);
    await expectKept(kept, lost, restoredAt);
    const cursor = await cursorNow();
    await step(5);
    expectWrong(await account.call(`/v1/events?after=${cursor}`), ['after']);
    expect((await account.call(`/v1/events?after=${await cursorNow()}`)).httpStatus).toBe(200);
    for (const status of await step(6)) expect(status).toMatch(/^ +deliveries due +0$/m);
    expect(await recipientOf(kept.delivered)).not.toBe('ERASED');
    for (const counts of await step(7)) expect(counts).toMatch(/^erased +1\nabsent +1\nrefused +0$/m);
    expect(await recipientOf(kept.delivered)).toBe('ERASED');
    expect(await recipientOf(kept.owed)).not.toBe('ERASED');
  });

  test('from a base backup: the same, once the feed is renewed by hand', async () => {
    const step = stepsOf('Restore from a base backup', 6);
    const kept = await before();
    await step(0);
    const lost = await meanwhile();
    await step(1);
    expect(await service.exited).toBe(0);
    await postgres.stop();
    await step(2);
    await step(3);
    await postgres.start();
    receiver.reply = () => ({});
    const restoredAt = Date.now();
    await startAgain();
    await step(4);
    // It is the same server: nothing but the next step tells readers that time went back.
    expect((await account.call(`/v1/events?after=${kept.cursor}`)).httpStatus).toBe(200);
    await step(5);
    expectWrong(await account.call(`/v1/events?after=${kept.cursor}`), ['after']);
    expect((await account.call(`/v1/events?after=${await cursorNow()}`)).httpStatus).toBe(200);
    await expectKept(kept, lost, restoredAt);
  });

  test('an upgrade to another version of PostgreSQL: the new one has a dump of the old server, and earlier cursors are refused', async () => {
    const step = stepsOf('Restore from a dump', 8);
    const kept = await before();
    await step(2);
    expect(await service.exited).toBe(0);
    await step(0);
    const newer = await postgresIn(join(folder.path, 'newer'), closing);
    const withNpm = commandsUnder('Restore from a dump')[3]!.find((command) => /^pg_restore/.test(command));
    const database = newer.superuserUrl.replace(/\w+$/, '');
    await run(`export ADMIN_URL=${database}postgres; ${withNpm!}`);
    const [analyze] = commandsUnder('Upgrade of PostgreSQL')[0]!;
    await run(`export OWNER_URL=${database}parcelhook; ${analyze!}`);
    receiver.reply = () => ({});
    const restoredAt = Date.now();
    env.DATABASE_URL = `${database}parcelhook`;
    await startAgain();
    expectWrong(await account.call(`/v1/events?after=${kept.cursor}`), ['after']);
    await expectKept(kept, null, restoredAt);
  });
});
