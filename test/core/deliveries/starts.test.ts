import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStarts, type Starts } from '../../../src/engine/attempt/leases.js';
import { durationsOf } from '../../../src/platform/durations.js';
import type { Claim, DueClaim } from '../../../src/engine/outbox/types.js';
import { disableWebhooks } from '../../../src/engine/circuit/store.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { claimRedeliveries, takeLapsedRedeliveries } from '../../../src/engine/outbox/redelivery.js';
import { requestRedelivery } from '../../../src/catch-up/by-hand.js';
import { giveBack } from '../../../src/engine/outbox/claim.js';
import {
  markDeleted,
  rotateSecret,
  updateWebhook,
  resumeWebhooks,
  suspendWebhooks,
} from '../../../src/webhooks/store.js';
import { until } from '../../support/until.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { createSweeper, finish, lapse, leaseMs, muchRoom, pull, record } from '../../support/core/acts.js';
import { startDispatcher } from '../../support/core/dispatcher.js';
import { addPlantedOrder, erase } from '../../support/core/erasures.js';
import { advance, cancel, replay } from '../../support/core/replays.js';
import { setUpRaces, webhookId, world } from '../../support/core/race.js';
import { outboxOf, setStatus } from '../../support/core/world.js';

let shipmentId: string;
let claim: DueClaim;
setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');
beforeEach(async () => {
  shipmentId = await addPlantedOrder(world);
  claim = (await record(world.db, shipmentId, ['CREATED'], { room: muchRoom }))[0]!;
});

const longAgo = () => performance.now() - durationsOf().maxStartMs - 1;
const ask = async (starts: Starts, of: Claim = claim) =>
  ((await starts.mayStart(of)) ?? -Infinity) >= performance.now();
const mayStart = (of: Claim = claim) => ask(createStarts(world.db, durationsOf()), of);

describe('an attempt whose connection took longer than a start may take', () => {
  test('starts if nothing has changed, several in one statement', async () => {
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
    const starts = createStarts(db, durationsOf());
    const responses = await Promise.all(claims.map((one) => ask(starts, one)));
    expect(responses).toEqual([true, false, true]);
    expect(statements).toBe(1);
  });

  test('starts although it waited behind others with a late check, if its own claim is recent', async () => {
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
    const starts = createStarts(db, durationsOf());
    const late = [ask(starts)];
    await until('the first is under way', () => reached.length === 1);
    late.push(ask(starts));
    await until('another is under way', () => reached.length === 2);
    const behind = ask(starts);
    await sleep(durationsOf().maxStartMs + 1);
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
  ])('does not start if its webhook was %s meanwhile', async (_, change) => {
    await change();
    expect(await mayStart()).toBe(false);
  });

  test('does not start if its shipment was erased meanwhile; a later claim does', async () => {
    await erase(world.db, shipmentId);
    expect(await mayStart()).toBe(false);
    const [since] = await record(world.db, shipmentId, ['PICKED_UP'], { room: muchRoom });
    expect(since!.erased).toBe(true);
    expect(await mayStart(since)).toBe(true);
  });

  test('does not start if its replay was cancelled meanwhile, or it is no longer owed', async () => {
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

  test('does not start if it was given back, or another process has taken it over: that one does', async () => {
    await lapse(world);
    await createSweeper(world.db).sweep();
    expect(await mayStart()).toBe(false);
    const [second] = await pull(world.db, webhookId);
    expect([await mayStart(), await mayStart(second)]).toEqual([false, true]);
    await giveBack(world.db, [second!]);
    expect(await mayStart(second)).toBe(false);
  });

  test('by hand it starts for a failed delivery, but not if another process has taken it over', async () => {
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

  test('by hand it starts for a webhook that was paused before, but not for a suspended shipper', async () => {
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
    expect(await byHand('MANUAL')).toBe(false); // claimed before the 410
  });

  test('does not start if its lease may run out before it is renewed', async () => {
    const left = (ms: number) => world.sql(`update outbox set lease_until = now() + interval '${ms} ms'`);
    await left(durationsOf().leaseMs / 8);
    expect(await mayStart()).toBe(false);
    await left(durationsOf().leaseMs / 2);
    expect(await mayStart()).toBe(true);
  });

  test('by hand does not start either if its lease may run out before it is renewed', async () => {
    await finish(world.db, [claim], 'FAILED');
    await requestRedelivery(world.db, world.shipperId, claim.deliveryId);
    const [manual] = await claimRedeliveries(world.db, [claim.deliveryId], leaseMs);
    await lapse(world);
    expect(await mayStart(manual)).toBe(false);
  });

  test('does not start if PostgreSQL does not confirm it in time, or at all', async () => {
    const impatient = createStarts(world.db, { ...durationsOf(), maxStartMs: 0 });
    expect(await ask(impatient)).toBe(false);
    const away: Database = { ...world.db, query: () => Promise.reject(new Error('away')) };
    expect(await ask(createStarts(away, durationsOf()))).toBe(false);
  });
});

describe('a worker that reaches a claim', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  beforeEach(() => void receiver.received.splice(0));
  afterAll(() => receiver?.close());

  const sent = () => receiver.received.map(({ headers }) => headers['webhook-id']);

  test('sends one that is older than maxStartMs, if nothing has changed', async () => {
    const dispatcher = startDispatcher(world, receiver.url);
    dispatcher.accept([claim], longAgo());
    await receiver.waitFor(1);
    await dispatcher.drain();
    expect(sent()).toEqual([claim.eventId]);
    expect(await outboxOf(world)).toEqual([]);
  });

  test('sends a young one without a question to PostgreSQL', async () => {
    const starts = createStarts(world.db, durationsOf());
    const mayStart = () => Promise.reject(new Error('It asks'));
    const dispatcher = startDispatcher(world, receiver.url, { starts: { ...starts, mayStart } });
    dispatcher.accept([claim], performance.now());
    await receiver.waitFor(1);
    await dispatcher.drain();
    expect(await outboxOf(world)).toEqual([]);
  });

  test('gives an older one back if its webhook was paused meanwhile', async () => {
    await setStatus(world, webhookId, 'PAUSED');
    const dispatcher = startDispatcher(world, receiver.url);
    dispatcher.accept([claim], longAgo());
    await dispatcher.drain();
    expect(sent()).toEqual([]);
    expect(await outboxOf(world)).toMatchObject([{ status: 'READY', attempt_count: 0 }]);
  });

  test('leaves an older one to the process that has taken it over', async () => {
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
