import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStarts } from '../../src/deliveries/send/starts.js';
import { timesOf } from '../../src/deliveries/times.js';
import type { Claim, DueClaim } from '../../src/deliveries/outbox/types.js';
import { disableWebhooks } from '../../src/deliveries/circuit/store.js';
import type { Database } from '../../src/platform/database/postgres.js';
import { claimRedeliveries, takeLapsedRedeliveries } from '../../src/deliveries/outbox/by-hand.js';
import { requestRedelivery } from '../../src/deliveries/on-demand/store.js';
import { giveBack } from '../../src/deliveries/outbox/claim.js';
import { markDeleted, rotateSecret, updateWebhook } from '../../src/webhooks/store.js';
import { resumeWebhooks, suspendWebhooks } from '../../src/webhooks/shipper-store.js';
import { until } from '../flows/support.js';
import { startReceiver, type Receiver } from '../receiver.js';
import { createSweeper, finish, lapse, leaseMs, muchRoom, pull, record } from './support/acts.js';
import { startDispatcher } from './support/dispatcher.js';
import { addPlantedOrder, erase } from './support/erasures.js';
import { advance, cancel, replay } from './support/replays.js';
import { setUpRaces, webhookId, world } from './support/race.js';
import { outboxOf, setStatus } from './support/world.js';

let shipmentId: string;
let claim: DueClaim;
setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');
beforeEach(async () => {
  shipmentId = await addPlantedOrder(world);
  claim = (await record(world.db, shipmentId, ['CREATED'], { room: muchRoom }))[0]!;
});

const longAgo = () => performance.now() - timesOf().longestStartMs - 1;
const mayStart = async (of: Claim = claim) => createStarts(world.db, timesOf()).mayStart(of, longAgo());

describe('an attempt whose connection took longer than a start may', () => {
  test('starts where nothing has changed, several in one statement', async () => {
    const others = await Promise.all([addPlantedOrder(world), addPlantedOrder(world)]);
    const claims = [claim];
    for (const id of others) claims.push(...(await record(world.db, id, ['CREATED'], { room: muchRoom })));
    await erase(world.db, others[0]);
    let statements = 0;
    const db: Database = {
      ...world.db,
      query: (...query) => {
        statements += 1;
        return world.db.query(...query);
      },
    };
    const starts = createStarts(db, timesOf());
    const answers = await Promise.all(claims.map(async (one) => starts.mayStart(one, longAgo())));
    expect(answers).toEqual([true, false, true]);
    expect(statements).toBe(1);
  });

  test('starts though it waited behind others whose answer came late, if its own is young', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const reached: unknown[] = [];
    const db: Database = {
      ...world.db,
      query: async (...query) => {
        if (reached.push(query) <= 2) await gate;
        return world.db.query(...query);
      },
    };
    const starts = createStarts(db, timesOf());
    const ask = async () => starts.mayStart(claim, longAgo());
    const late = [ask()];
    await until('the first is under way', () => reached.length === 1);
    late.push(ask());
    await until('so is another', () => reached.length === 2);
    const behind = ask();
    await sleep(timesOf().longestStartMs + 1);
    open();
    expect(await Promise.all([...late, behind])).toEqual([false, false, true]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['paused', () => setStatus(world, webhookId, 'PAUSED')],
    ['deleted', () => markDeleted(world.db, world.shipperId, webhookId)],
    ['found gone', () => disableWebhooks(world.db, [{ webhookId, storedAddress: null }], 'GONE')],
    ['suspended with its shipper', () => suspendWebhooks(world.db, world.shipperId)],
    ['given a new secret', () => rotateSecret(world.db, world.shipperId, webhookId, 'sealed', 0)],
    [
      'given another address',
      () => updateWebhook(world.db, world.shipperId, webhookId, { targetAddress: 'http://new.test/' }),
    ],
    ['gone altogether', () => world.sql('truncate outbox, webhooks, circuits cascade')],
  ])('does not start where its webhook was %s meanwhile', async (_, change) => {
    await change();
    expect(await mayStart()).toBe(false);
  });

  test('does not start where its shipment was erased meanwhile; what was claimed since does', async () => {
    await erase(world.db, shipmentId);
    expect(await mayStart()).toBe(false);
    const [since] = await record(world.db, shipmentId, ['PICKED_UP'], { room: muchRoom });
    expect(since!.erased).toBe(true);
    expect(await mayStart(since)).toBe(true);
  });

  test('does not start where its replay was cancelled meanwhile, or it is owed no more', async () => {
    await finish(world.db, [claim], 'FAILED');
    const replayId = await replay(world, world.db, webhookId);
    const [replayed] = await pull(world.db, webhookId);
    expect(await mayStart(replayed)).toBe(true);
    await cancel(world, world.db, replayId);
    expect(await mayStart(replayed)).toBe(false);
    await finish(world.db, [replayed!], 'RETRY');
    await advance(world.db);
    expect(await outboxOf(world)).toEqual([]);
    expect(await mayStart(replayed)).toBe(false);
  });

  test('does not start where it was given back, or somebody else has taken it up: that one does', async () => {
    await lapse(world);
    await createSweeper(world.db).sweep();
    expect(await mayStart()).toBe(false);
    const [second] = await pull(world.db, webhookId);
    expect([await mayStart(), await mayStart(second)]).toEqual([false, true]);
    await giveBack(world.db, [second!]);
    expect(await mayStart(second)).toBe(false);
  });

  test('by hand it starts for what has failed, but not where somebody else has taken that up', async () => {
    await finish(world.db, [claim], 'FAILED');
    const claimIt = async () => (await claimRedeliveries(world.db, [claim.deliveryId], leaseMs))[0]!;
    await requestRedelivery(world.db, world.shipperId, claim.deliveryId);
    const first = await claimIt();
    expect(await mayStart(first)).toBe(true);
    await lapse(world);
    await takeLapsedRedeliveries(world.db, leaseMs, 100);
    expect(await mayStart(first)).toBe(false);
    const second = await claimIt();
    expect([await mayStart(first), await mayStart(second)]).toEqual([false, true]);
  });

  test('by hand it starts for a webhook that was paused before, but none of a suspended shipper', async () => {
    await requestRedelivery(world.db, world.shipperId, claim.deliveryId);
    await giveBack(world.db, [claim]);
    const [manual] = await claimRedeliveries(world.db, [claim.deliveryId], leaseMs);
    const paused = (await setStatus(world, webhookId, 'PAUSED'))!;
    const [{ revision }] = (await world.sql('select revision from webhooks where webhook_id = $1', [
      paused.webhookId,
    ])) as [{ revision: number }];
    const byHand = (trigger: Claim['trigger']) => mayStart({ ...manual!, revision, trigger });
    expect([await byHand('MANUAL'), await byHand('TEST'), await byHand('SCHEDULED')]).toEqual([
      true,
      true,
      false,
    ]);
    await suspendWebhooks(world.db, world.shipperId);
    expect([await byHand('MANUAL'), await byHand('TEST')]).toEqual([false, false]);
    await resumeWebhooks(world.db, world.shipperId);
    expect(await byHand('MANUAL')).toBe(true);
    await disableWebhooks(world.db, [{ webhookId, storedAddress: null }], 'GONE');
    expect(await byHand('MANUAL')).toBe(false); // what was claimed before the 410
  });

  test('does not start where its lease may run out before it is renewed', async () => {
    const left = (ms: number) => world.sql(`update outbox set lease_until = now() + interval '${ms} ms'`);
    await left(timesOf().leaseMs / 8);
    expect(await mayStart()).toBe(false);
    await left(timesOf().leaseMs / 2);
    expect(await mayStart()).toBe(true);
  });

  test('does not start where PostgreSQL does not say so soon, or not at all', async () => {
    const impatient = createStarts(world.db, { ...timesOf(), longestStartMs: 0 });
    expect(await impatient.mayStart(claim, longAgo())).toBe(false);
    const away: Database = { ...world.db, query: () => Promise.reject(new Error('away')) };
    expect(await createStarts(away, timesOf()).mayStart(claim, longAgo())).toBe(false);
  });

  test('is not asked about while its claim is young', () => {
    const away: Database = { ...world.db, query: () => Promise.reject(new Error('away')) };
    expect(createStarts(away, timesOf()).mayStart(claim, performance.now())).toBe(true);
  });
});

describe('a worker that comes to a claim', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  beforeEach(() => void receiver.received.splice(0));
  afterAll(() => receiver?.close());

  const sent = () => receiver.received.map(({ headers }) => headers['webhook-id']);

  test.each([
    ['that is young', () => performance.now()],
    ['that is older than longestStartMs, if nothing has changed', longAgo],
  ])('sends one %s', async (_, issuedAt) => {
    const dispatcher = startDispatcher(world, receiver.url);
    dispatcher.accept([claim], issuedAt());
    await receiver.waitFor(1);
    await dispatcher.drain();
    expect(sent()).toEqual([claim.eventId]);
    expect(await outboxOf(world)).toEqual([]);
  });

  test('gives one back that is older, where its webhook was paused meanwhile', async () => {
    await setStatus(world, webhookId, 'PAUSED');
    const dispatcher = startDispatcher(world, receiver.url);
    dispatcher.accept([claim], longAgo());
    await dispatcher.drain();
    expect(sent()).toEqual([]);
    expect(await outboxOf(world)).toMatchObject([{ status: 'READY', attempt_count: 0 }]);
  });

  test('leaves one that is older to who has taken it up meanwhile', async () => {
    await lapse(world);
    await createSweeper(world.db).sweep();
    await pull(world.db, webhookId);
    const before = await outboxOf(world);
    const dispatcher = startDispatcher(world, receiver.url);
    dispatcher.accept([claim], longAgo());
    await dispatcher.drain();
    expect(sent()).toEqual([]);
    expect(await outboxOf(world)).toEqual(before);
  });
});
