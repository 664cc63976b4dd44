import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { requestRedelivery } from '../../../src/catch-up/by-hand.js';
import { claimProbes } from '../../../src/engine/outbox/claim.js';
import { takeLapsedRedeliveries } from '../../../src/engine/outbox/redelivery.js';
import { dueSinceUnknown } from '../../../src/engine/outbox/types.js';
import { failedOutcome } from '../../../src/engine/send/messages.js';
import type { Sending } from '../../../src/engine/send/threads.js';
import { lapse, leaseMs, muchRoom, record } from '../../support/core/acts.js';
import { openSending, startDispatcher } from '../../support/core/dispatcher.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../../support/core/race.js';
import { addShipment, openCircuit, outboxOf } from '../../support/core/world.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { onceAt, programWith } from '../../support/sender-program.js';
import { until } from '../../support/until.js';

let receiver: Receiver;
setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries');
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver?.close());

const ending = () => openSending({ threads: 1, program: programWith(onceAt('CREATED', 'process.exit(1);')) });
const attempts = () => world.sql('select number, trigger, error_code from attempts order by number');

test('a delivery whose thread ended is sent again at once: LOST in the log, no retry, no failure for the circuit', async () => {
  const claims = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
  const sending = ending();
  const dispatcher = startDispatcher(world, receiver.url, { sending });
  dispatcher.accept(claims, performance.now());
  await receiver.waitFor(1);
  await dispatcher.drain();
  sending.close();
  expect(await now()).toEqual(['1 SUCCEEDED']);
  expect(await attempts()).toEqual([{ number: 1, trigger: 'SCHEDULED', error_code: 'LOST' }]);
  expect(await world.sql('select 1 from circuits')).toEqual([]);
});

test('after a probe whose thread ended the next one may come at once', async () => {
  await record(world.db, shipmentId, ['CREATED']);
  await openCircuit(world, webhookId);
  const sending = ending();
  const dispatcher = startDispatcher(world, receiver.url, { sending });
  const before = receiver.received.length;
  dispatcher.accept(await claimProbes(world.db, leaseMs, leaseMs), performance.now());
  await dispatcher.drain();
  const isUnderWay = () => world.sql('select 1 from circuits where probe_until is not null');
  await until('the probe has ended', async () => (await isUnderWay()).length === 0);
  expect(await attempts()).toMatchObject([{ error_code: 'LOST' }]);
  const next = startDispatcher(world, receiver.url, { sending });
  next.accept(await claimProbes(world.db, leaseMs, leaseMs), performance.now());
  await receiver.waitFor(before + 1);
  await next.drain();
  sending.close();
  expect(await now()).toEqual(['1 SUCCEEDED']);
});

test('a redelivery whose thread ended is made again when its lease has expired', async () => {
  await record(world.db, shipmentId, ['CREATED']);
  const [owed] = await outboxOf(world, webhookId);
  const sending = ending();
  const dispatcher = startDispatcher(world, receiver.url, { sending });
  const before = receiver.received.length;
  await requestRedelivery(world.db, world.shipperId, owed!.delivery_id);
  await dispatcher.redeliver();
  await dispatcher.drain();
  expect(await now()).toEqual(['1 SENDING']);
  await lapse(world);
  expect(await takeLapsedRedeliveries(world.db, leaseMs, 100)).toBe(1);
  const next = startDispatcher(world, receiver.url, { sending });
  await next.redeliver();
  await receiver.waitFor(before + 1);
  await next.drain();
  sending.close();
  expect(receiver.received).toHaveLength(before + 1);
  expect(await now()).toEqual(['1 SUCCEEDED']);
  expect(await attempts()).toEqual([{ number: 1, trigger: 'MANUAL', error_code: 'LOST' }]);
});

test('a receiver whose handshake took long counts as slow for a while, although its next responses are quick', async () => {
  const isProved: boolean[] = [];
  const send: Sending['send'] = (sent) => {
    isProved.push(sent.isProved);
    const isHeavy = isProved.length === 2;
    return Promise.resolve({
      ...failedOutcome('HTTP_STATUS', new Date(), 5),
      ok: true,
      statusCode: 200,
      isHeavy,
    });
  };
  const dispatcher = startDispatcher(world, 'https://receiver.test/', { sending: { send } });
  for (let n = 0; n < 5; n += 1) {
    await record(world.db, await addShipment(world), ['CREATED']);
    dispatcher.notify(dueSinceUnknown([webhookId]));
    await until('it is settled', async () => (await outboxOf(world)).length === 0);
  }
  await dispatcher.drain();
  expect(isProved).toEqual([false, true, false, false, false]);
});
