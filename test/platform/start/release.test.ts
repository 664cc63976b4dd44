/** A release and the way back: the version before and this one take turns on one database, under load. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { operator, registerAccount, registerWebhook, type Account } from '../../support/client.js';
import { createDatabase, dropDatabase } from '../../support/database.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/process.js';
import { programFile, runProgram } from '../../support/program.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { buildVersionBefore, editedSince, versionBefore } from '../../support/version-before.js';
import { accountAt, crashTraces, deployment, newFolder, type Folder } from '../../support/deployment.js';
import { heardOf, repeated, startLoad, trackingIdOf, type Load } from '../../support/load.js';
import { until } from '../../support/until.js';

const before = versionBefore();
const edited = typeof before === 'string' ? [] : editedSince(before);
const isKnown = typeof before !== 'string' && (edited.length === 0 || before.isReleased);
if (!isKnown)
  console.warn(
    `\n  The version before on the new schema, and the way back, is NOT TESTED: ${
      typeof before === 'string' ? before : `${edited.join(', ')} was edited and is not committed`
    }.\n`,
  );

/** Enough that each pair of processes has taken, recorded, sent and settled. */
const ordersEach = 25;
const orderEveryMs = 60;

(isKnown ? describe : describe.skip)('a release', () => {
  const name = `t_${randomBytes(6).toString('hex')}`;
  const server = process.env.TEST_DATABASE_URL ?? '';
  const redis = process.env.TEST_REDIS_URL;
  const started: RunningProcess[] = [];
  let folder: Folder;
  let programBefore: string;
  let env: Record<string, string>;
  let receiver: Receiver;

  beforeAll(async () => {
    folder = newFolder();
    if (typeof before !== 'string') programBefore = buildVersionBefore(before, join(folder.path, 'before'));
    env = deployment(await createDatabase(server, name, null), { ...(redis && { REDIS_URL: redis }) });
    receiver = await startReceiver();
  }, 600_000);
  afterAll(async () => {
    for (const process of started) process.kill('SIGKILL');
    await receiver.close();
    await dropDatabase(server, name);
    folder.remove();
  });

  const start = async (program: string): Promise<RunningProcess[]> => {
    const pair = await Promise.all(
      ['api', 'worker'].map((role) => startProcess(env, role, undefined, undefined, program)),
    );
    started.push(...pair);
    return pair;
  };

  /** Waits until these orders, taken from now on, have arrived; then a state is recorded of each. */
  const atWork = async ([api]: RunningProcess[], load: Load) => {
    const first = load.accepted.length;
    await until('orders are taken', () => load.accepted.length >= first + ordersEach, 60_000);
    const own = load.accepted.slice(first, first + ordersEach);
    await until('they arrive', () => heardOf(receiver.received, own) === own.length, 60_000);
    const events = load.accepted
      .filter((trackingId) => !pickedUp.has(trackingId) && heardOf(receiver.received, [trackingId]) > 0)
      .map((trackingId) => ({ trackingId, state: 'PICKED_UP' }));
    const { data } = await operator(api!, '/events', { body: { events } });
    expect(data.results).toEqual(events.map(() => ({ eventId: expect.any(String) })));
    for (const { trackingId } of events) pickedUp.add(trackingId);
  };
  const pickedUp = new Set<string>();

  test('and the way back lose nothing and send nothing twice: the version before works on the new schema, and this one after it', async () => {
    let pair = await start(programBefore);
    const account = await registerAccount(pair[0]!);
    await registerWebhook(account, receiver.url);
    let current: Account = account;
    const load = startLoad(() => current, orderEveryMs);
    /** A rolling update: the new ones are ready before those of before end. */
    const replaceBy = async (program: string) => {
      const last = pair;
      pair = await start(program);
      current = accountAt(account, pair[0]!);
      expect(await Promise.all(last.map(stopProcess))).toEqual([0, 0]);
    };
    try {
      await atWork(pair, load);
      const migrated = await runProgram(['migrate'], env);
      expect(migrated).toMatchObject({ exit: 0, stderr: '' });
      await atWork(pair, load);
      for (const program of [programFile, programBefore, programFile]) {
        await replaceBy(program);
        await atWork(pair, load);
      }
    } finally {
      await load.stop();
    }
    const all = load.accepted.length + pickedUp.size;
    await receiver.waitFor(all, undefined, 60_000);
    expect(await Promise.all(pair.map(stopProcess))).toEqual([0, 0]);

    const refused = load.responses.filter(({ httpStatus }) => httpStatus !== 201);
    expect(refused).toEqual([]);
    expect(heardOf(receiver.received, load.accepted)).toBe(load.accepted.length);
    expect(repeated(receiver.received)).toBe(0);
    for (const trackingId of pickedUp)
      expect(
        receiver.received
          .filter((request) => trackingIdOf(request) === trackingId)
          .map(({ notification }) => notification.state),
      ).toEqual(['CREATED', 'PICKED_UP']);
    for (const process of started) expect(crashTraces(process.output())).toEqual([]);
  }, 300_000);
});
