import { describe, expect, test } from '@jest/globals';
import { giveBack } from '../../src/engine/outbox/claim.js';
import { durationsOf } from '../../src/platform/durations.js';
import { cancelOwed } from '../../src/engine/outbox/turns.js';
import { untilNoSendCanStart } from '../../src/engine/attempt/leases.js';
import {
  lockWebhook,
  markDeleted,
  pauseByOperator,
  resumeByOperator,
  updateWebhook,
} from '../../src/webhooks/store.js';
import {
  createSweeper,
  finish,
  inspect as inspectOver,
  lapse,
  leaseMs,
  muchRoom,
  pull,
  record,
  takeUpLapsed,
} from '../support/core/acts.js';
import { doneOrWaiting, stopAt } from '../support/core/barriers.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import { addShipment, addWebhook, picture, setStatus, outboxOf } from '../support/core/world.js';

setUpRaces();

const remove = () => markDeleted(world.db, world.shipperId, webhookId);
const sweep = () => createSweeper(world.db).sweep();
const inspect = () => inspectOver(world.db);

describe('an event recorded while its webhook is stopped', () => {
  test.each([
    ['without room', undefined, '1 READY'],
    ['as claimed', muchRoom, '1 SENDING'],
  ] as const)('%s, and committed after it was resumed, is sent', async (_, room, expected) => {
    const stop = stopAt(world, 'insert-events', 'COMMIT');
    const recording = record(stop.db, shipmentId, ['CREATED'], room ? { room } : {});
    await stop.reached;
    await setStatus(world, webhookId, 'PAUSED');
    await setStatus(world, webhookId, 'ACTIVE');
    stop.go();
    const claims = await recording;
    expect(await now()).toEqual([expected]);
    await finish(world.db, [...claims, ...(await pull(world.db, webhookId))], 'SUCCEEDED');
    expect(await now()).toEqual(['1 SUCCEEDED']);
  });

  test('and committed after it was paused stays due, and is found by the sweeper only after the resume', async () => {
    const stop = stopAt(world, 'insert-events', 'COMMIT');
    const recording = record(stop.db, shipmentId, ['CREATED']);
    await stop.reached;
    await setStatus(world, webhookId, 'PAUSED');
    stop.go();
    await recording;
    expect(await pull(world.db, webhookId)).toEqual([]);
    expect((await inspect()).unattended).toEqual([]);
    await setStatus(world, webhookId, 'ACTIVE');
    expect((await inspect()).unattended).toEqual([{ webhookId, dueFromMs: expect.any(Number) }]);
    expect(await pull(world.db, webhookId)).toHaveLength(1);
  });

  test('and committed after the last page of a deleted one was cancelled is cancelled by the sweeper', async () => {
    const stop = stopAt(world, 'insert-events', 'COMMIT');
    const recording = record(stop.db, shipmentId, ['CREATED', 'PICKED_UP']);
    await stop.reached;
    await remove();
    expect(await cancelOwed(world.db, webhookId, 1_000)).toBe(0);
    stop.go();
    await recording;
    expect(await now()).toEqual(['1 READY', '2 waits']);
    expect((await inspect()).deleted).toEqual([webhookId]);
    await sweep();
    expect(await now()).toEqual(['1 WEBHOOK_DELETED', '2 WEBHOOK_DELETED']);
  });
});

describe('an operator pauses a webhook while its shipper resumes it', () => {
  test('before: the shipper finds that it is for the operator to resume', async () => {
    await setStatus(world, webhookId, 'PAUSED');
    const stop = stopAt(world, 'pause-by-operator', 'COMMIT');
    const pausing = pauseByOperator(stop.db, webhookId);
    await stop.reached;
    const found = lockWebhook(world.db, world.shipperId, webhookId);
    await doneOrWaiting(world.db, found);
    stop.go();
    await pausing;
    expect(await found).toMatchObject({ status: 'PAUSED', pausedBy: 'OPERATOR' });
    expect(await resumeByOperator(world.db, webhookId)).toMatchObject({ status: 'PAUSED', pausedBy: null });
  });

  test('after: it is paused, and active once an operator resumes it', async () => {
    await setStatus(world, webhookId, 'PAUSED');
    const stop = stopAt(world, 'update-webhook', 'COMMIT');
    const resuming = updateWebhook(stop.db, world.shipperId, webhookId, { status: 'ACTIVE' });
    await stop.reached;
    const pausing = pauseByOperator(world.db, webhookId);
    await doneOrWaiting(world.db, pausing);
    stop.go();
    await resuming;
    expect(await pausing).toMatchObject({ status: 'PAUSED', pausedBy: 'OPERATOR' });
    expect(await resumeByOperator(world.db, webhookId)).toMatchObject({ status: 'ACTIVE' });
  });
});

describe('a claim not visible when its webhook was stopped', () => {
  test.each([
    ['recorded as claimed', 'insert-events'],
    ['pulled', 'pull-due'],
  ])('%s: given back it is not claimed again before the webhook is resumed', async (how, name) => {
    if (how === 'pulled') await record(world.db, shipmentId, ['CREATED']);
    const stop = stopAt(world, name, 'COMMIT');
    const claiming =
      how === 'pulled'
        ? pull(stop.db, webhookId)
        : record(stop.db, shipmentId, ['CREATED'], { room: muchRoom });
    await stop.reached;
    await setStatus(world, webhookId, 'PAUSED');
    stop.go();
    const claims = await claiming;
    expect(claims).toHaveLength(1);
    await giveBack(world.db, claims);
    expect(await now()).toEqual(['1 READY']);
    expect(await pull(world.db, webhookId)).toEqual([]);
    await setStatus(world, webhookId, 'ACTIVE');
    const [again] = await pull(world.db, webhookId);
    expect(again!.number).toBe(1); // an attempt that was not sent does not count
  });

  test('may start until its statement is too old, and a stop waits that long', async () => {
    const { maxStartMs, startMarginMs } = durationsOf();
    const startedAt = performance.now();
    await untilNoSendCanStart(durationsOf());
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(maxStartMs + startMarginMs - 1);
  });

  test('of a deleted webhook ends with the result of its attempt', async () => {
    const claims = await record(world.db, shipmentId, ['CREATED', 'PICKED_UP'], { room: muchRoom });
    await remove();
    await cancelOwed(world.db, webhookId, 1_000);
    expect(await now()).toEqual(['1 SENDING', '2 WEBHOOK_DELETED']);
    await finish(world.db, claims, 'RETRY');
    await sweep();
    expect(await now()).toEqual(['1 WEBHOOK_DELETED', '2 WEBHOOK_DELETED']);
  });

  test('takes no more than the room: the rest is READY, fair between webhooks', async () => {
    const other = await addWebhook(world, { ordering: 'NONE' });
    const shipments = await Promise.all(Array.from({ length: 4 }, () => addShipment(world)));
    const room = { byWebhook: { [webhookId]: 1 }, ofOthers: 2, total: 2 };
    for (const id of shipments.slice(0, 3)) await record(world.db, id, ['CREATED']);
    await world.sql('delete from outbox');
    const claims = await record(world.db, shipments[3]!, ['CREATED', 'PICKED_UP', 'IN_TRANSIT'], { room });
    expect(claims.map((claim) => claim.webhookId).sort()).toEqual([webhookId, other].sort());
    expect(await now()).toEqual(['1 SENDING', '2 waits', '3 waits']);
    expect(await picture(world, other)).toEqual(['1 SENDING', '2 READY', '3 READY']);
  });
});

describe('an expired claim', () => {
  test('is logged with the start of its claim: the lease of a test lasts longer', async () => {
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP'], { room: muchRoom });
    await world.sql(`update outbox set trigger = 'TEST', status = 'SENDING' where sequence = 2`);
    await world.sql(
      `update outbox set waits_turn = false, due_at = now(), lease_until = now() + case trigger when 'TEST' then interval '15 s' else interval '0 s' end`,
    );
    await world.sql(`update outbox set lease_until = lease_until - interval '20 s'`);
    const ids = (await outboxOf(world)).map((row) => row.delivery_id);
    await takeUpLapsed(world.db, leaseMs + 15_000);
    const begun = await world.sql<{ agoMs: number }>(
      `select (extract(epoch from now() - started_at) * 1000)::int as "agoMs"
         from (select delivery_id, started_at from attempts union all select delivery_id, started_at from deliveries) a
        where delivery_id = any($1::uuid[])`,
      [ids],
    );
    expect(begun).toHaveLength(2);
    for (const { agoMs } of begun) expect(Math.abs(agoMs - 30_000)).toBeLessThan(5_000);
  });

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'ends once: the late result stopped at its %s, and the take-over',
    async (where) => {
      const claims = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
      await lapse(world);
      const stop = stopAt(world, 'settle', where);
      const settling = finish(stop.db, claims, 'SUCCEEDED');
      await stop.reached;
      const { count } = await takeUpLapsed(world.db);
      stop.go();
      expect((await settling).length).toBe(where === 'SNAPSHOT' ? 0 : 1);
      expect(count).toBe(where === 'SNAPSHOT' ? 1 : 0);
      expect(await now()).toEqual([where === 'SNAPSHOT' ? '1 READY' : '1 SUCCEEDED']);
    },
  );

  test.each(['SNAPSHOT', 'COMMIT'] as const)(
    'ends once: taken over up to the %s, and its late result',
    async (where) => {
      const claims = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
      await lapse(world);
      const stop = stopAt(world, 'take-lapsed', where);
      const taking = takeUpLapsed(stop.db);
      await stop.reached;
      const settling = finish(world.db, claims, 'SUCCEEDED');
      if (where === 'SNAPSHOT') await settling;
      stop.go();
      expect((await taking).count).toBe(where === 'SNAPSHOT' ? 0 : 1);
      expect((await settling).length).toBe(where === 'SNAPSHOT' ? 1 : 0);
      const [again] = await pull(world.db, webhookId);
      if (again) expect(again.number).toBe(2);
      expect(await now()).toEqual([where === 'SNAPSHOT' ? '1 SUCCEEDED' : '1 SENDING']);
    },
  );
});
