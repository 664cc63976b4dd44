import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { requestRedelivery } from '../../src/catch-up/by-hand.js';
import { reportSuccess } from '../../src/engine/circuit/circuit.js';
import { createLeases } from '../../src/engine/attempt/leases.js';
import { durationsOf } from '../../src/platform/durations.js';
import { claimProbes } from '../../src/engine/outbox/claim.js';
import { lockMoves } from '../../src/engine/outbox/sql.js';
import { dueSinceUnknown } from '../../src/engine/outbox/types.js';
import type { InFlight } from '../../src/engine/schedule/lanes.js';
import { recordEvents } from '../../src/engine/record/record.js';
import { createMetrics } from '../../src/platform/telemetry/metrics.js';
import {
  finish,
  lapse,
  leaseMs,
  longHoldMs,
  muchRoom,
  pull,
  record,
  recordAll,
  recording,
  createSweeper,
} from '../support/core/acts.js';
import { startDispatcher } from '../support/core/dispatcher.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import {
  addShipment,
  addShipments,
  addWebhook,
  forNewShipper,
  logger,
  openPool,
  outboxOf,
  openCircuit,
} from '../support/core/world.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.reply = () => ({});
});
afterAll(() => receiver?.close());

/** The receiver keeps its caller waiting; the returned function ends the first request. */
const holdFirst = (status: number) => {
  let respond = (): void => undefined;
  receiver.reply = (_, response) => {
    respond = () => response.writeHead(status).end();
  };
  return () => respond();
};
const allAre = (expected: string[]) => async () => JSON.stringify(await now()) === JSON.stringify(expected);

describe('an attempt that spends no retry leaves a delivery that is sent again without a sweep', () => {
  test('after a probe that failed although its circuit was closed meanwhile', async () => {
    await record(world.db, shipmentId, ['CREATED', 'PICKED_UP']);
    await openCircuit(world, webhookId);
    const respond = holdFirst(500);
    const { db } = world;
    const dispatcher = startDispatcher(world, receiver.url);
    dispatcher.accept(await claimProbes(db, leaseMs, 25_000), performance.now());
    await receiver.waitFor(1);
    receiver.reply = () => ({});
    const { notify } = dispatcher;
    const metrics = createMetrics();
    const onDisabled = () => Promise.resolve();
    const target = { webhookId, storedAddress: 'http://receiver.test/' };
    await reportSuccess({ db, durations: durationsOf(), notify, logger, metrics, onDisabled }, target);
    respond();
    await until('both are sent', allAre(['1 SUCCEEDED', '2 SUCCEEDED']));
    await dispatcher.drain();
  });

  test('after a 410 of an address that was changed meanwhile', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    const respond = holdFirst(410);
    const dispatcher = startDispatcher(world, receiver.url);
    dispatcher.notify(dueSinceUnknown([webhookId]));
    await receiver.waitFor(1);
    await world.sql(`update webhooks set target_address = 'http://new.test/', revision = revision + 1`);
    receiver.reply = () => ({});
    respond();
    await until('it is sent', allAre(['1 SUCCEEDED']));
    await dispatcher.drain();
  });
});

test('an overtaken state whose attempt by hand fails is cancelled, not sent again', async () => {
  await world.sql('update webhooks set supersede = true');
  await record(world.db, shipmentId, ['CREATED']);
  const [owed] = await outboxOf(world, webhookId);
  await requestRedelivery(world.db, world.shipperId, owed!.delivery_id);
  const respond = holdFirst(500);
  const dispatcher = startDispatcher(world, receiver.url);
  await dispatcher.redeliver();
  await receiver.waitFor(1);
  await record(world.db, shipmentId, ['PICKED_UP']);
  receiver.reply = () => ({});
  respond();
  await until('the later one is sent', allAre(['1 SUPERSEDED', '2 SUCCEEDED']));
  await dispatcher.drain();
  expect(receiver.received.map(({ notification }) => notification.state)).toEqual(['CREATED', 'PICKED_UP']);
});

describe('a probe that is given back can be claimed by another process at once', () => {
  test('when its process stops', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    await openCircuit(world, webhookId);
    const dispatcher = startDispatcher(world, receiver.url);
    const probes = await claimProbes(world.db, leaseMs, 25_000);
    await dispatcher.drain();
    dispatcher.accept(probes, performance.now());
    await until('it is given back', allAre(['1 READY']));
    await until('it can be claimed', async () => (await claimProbes(world.db, leaseMs, 25_000)).length === 1);
  });

  test('when its webhook was changed meanwhile', async () => {
    await record(world.db, shipmentId, ['CREATED']);
    await openCircuit(world, webhookId);
    const dispatcher = startDispatcher(world, receiver.url);
    const probes = await claimProbes(world.db, leaseMs, 25_000);
    await world.sql('update webhooks set revision = revision + 1');
    dispatcher.accept(probes, performance.now() - 1_000); // too old to start without asking
    await until('it can be claimed', async () => (await claimProbes(world.db, leaseMs, 25_000)).length === 1);
    await dispatcher.drain();
  });
});

test('while a process has a probe of a webhook, no other one is claimed', async () => {
  await record(world.db, shipmentId, ['CREATED']);
  await record(world.db, await addShipment(world), ['CREATED']);
  await openCircuit(world, webhookId);
  const [claim] = await claimProbes(world.db, leaseMs, 0);
  const { stop } = createLeases({
    db: world.db,
    leaseDb: world.db,
    logger,
    durations: { leaseMs: 4_000, patienceMs: 0 },
    claims: () => [{ claim: claim!, asOfMs: -Infinity } as InFlight],
    orderHoldMs: longHoldMs,
    terminalStates: [],
    isDraining: () => false,
    notify: () => undefined,
  });
  const renewed = () => world.sql('select 1 from circuits where probe_until > now()');
  await until('it is renewed', async () => (await renewed()).length === 1);
  expect(await claimProbes(world.db, leaseMs, 0)).toEqual([]);
  stop();
});

test('open circuits whose webhooks have nothing due, however many, keep no probe from one that has', async () => {
  await record(world.db, shipmentId, ['CREATED']);
  await openCircuit(world, webhookId);
  await world.sql(
    `with w as (
       insert into webhooks (webhook_id, shipper_id, interests, target_address, status, ordering, supersede, headers,
                             description, secret, created_at, updated_at)
       select gen_random_uuid(), shipper_id, interests, target_address, status, ordering, supersede, headers,
              description, secret, created_at, updated_at from webhooks, generate_series(1, 600)
       returning webhook_id)
     insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, open_until)
     select webhook_id, now(), 10, 10, now(), now() - interval '1 minute' from w`,
  );
  expect(await claimProbes(world.db, leaseMs, 25_000)).toMatchObject([{ webhookId }]);
});

describe('in a process that does not know the webhook yet', () => {
  const oldRows = async (count: number) => {
    await world.sql(`update webhooks set ordering = 'NONE'`);
    const shipments = await addShipments(world, count);
    for (let n = 0; n < count; n += 200) {
      const some = shipments.slice(n, n + 200);
      await recordAll(
        world.db,
        some.map((id) => [id, 'OLD']),
      );
    }
    await world.sql(`update outbox set due_at = due_at - interval '1 hour'`);
  };

  test('a recorded delivery does not overtake its backlog', async () => {
    await oldRows(40);
    receiver.reply = () => ({ delayMs: 20 });
    const dispatcher = startDispatcher(world, receiver.url, { concurrency: 100 });
    dispatcher.notify(dueSinceUnknown([webhookId])); // as the sweep or a job does
    await recordEvents(recording(world.db, dispatcher, longHoldMs), [{ shipmentId, state: 'NEW' }]);
    await receiver.waitFor(41);
    const at = receiver.received.findIndex(({ notification }) => notification.state === 'NEW');
    expect(at).toBeGreaterThan(30);
    await dispatcher.drain();
  });

  test('no claim is made behind its backlog, where an expired lease is found late', async () => {
    await oldRows(600);
    expect(await record(world.db, shipmentId, ['NEW'], { room: muchRoom, knowsWebhooks: false })).toEqual([]);
    const [first] = await pull(world.db, webhookId, 1);
    await lapse(world); // it was killed
    await createSweeper(world.db).takeUpLapsed();
    const rows = await outboxOf(world, webhookId);
    expect(rows.find((row) => row.delivery_id === first!.deliveryId)!.status).toBe('READY');
  });
});

test("one shipper's receivers that hang do not keep another's redelivery waiting", async () => {
  const other = await forNewShipper(world);
  const otherWebhook = await addWebhook(other);
  await record(world.db, await addShipment(other), ['OTHER']);
  for (let n = 0; n < 11; n += 1) await addWebhook(world);
  const shipments = await addShipments(world, 5);
  await recordAll(
    world.db,
    shipments.map((id) => [id, 'HANGS']),
  );
  receiver.reply = ({ notification }) => (notification.state === 'OTHER' ? {} : undefined);
  const dispatcher = startDispatcher(world, receiver.url);
  const owed = await world.sql<{ delivery_id: string; webhook_id: string; shipper_id: string }>(
    'select delivery_id, webhook_id, shipper_id from outbox',
  );
  for (const row of owed) await requestRedelivery(world.db, row.shipper_id, row.delivery_id);
  const hanging = owed.filter((row) => row.webhook_id !== otherWebhook);
  expect(hanging).toHaveLength(60);
  await dispatcher.redeliver();
  await until(
    'the other one is sent',
    async () => {
      await dispatcher.redeliver();
      return receiver.received.some(({ notification }) => notification.state === 'OTHER');
    },
    5_000,
  );
  await receiver.close();
  await dispatcher.drain();
  receiver = await startReceiver();
});

test('redeliveries that wait for a replay of their webhook leave the connections to others', async () => {
  const other = await forNewShipper(world);
  await addWebhook(other);
  const [victim] = await record(world.db, await addShipment(other), ['CREATED'], { room: muchRoom });
  const shipments = await addShipments(world, 8);
  await recordAll(
    world.db,
    shipments.map((id) => [id, 'CREATED']),
  );
  const ids = (await outboxOf(world, webhookId)).map((row) => row.delivery_id);
  for (const id of ids) await requestRedelivery(world.db, world.shipperId, id);
  const dispatcher = startDispatcher(world, receiver.url);
  const another = openPool(world.databaseUrl, 1);
  let end = (): void => undefined;
  const locked = new Promise<void>((resolve) => {
    void another.transaction(async (tx) => {
      await lockMoves(tx, [webhookId]);
      resolve();
      await new Promise<void>((over) => (end = over));
    });
  });
  await locked;
  await Promise.all(ids.map(() => dispatcher.redeliver())); // nobody waits
  await finish(world.db, [victim!], 'SUCCEEDED');
  end();
  await until('they are sent', async () => {
    await dispatcher.redeliver();
    return receiver.received.length >= ids.length;
  });
  await dispatcher.drain();
  await another.end();
});
