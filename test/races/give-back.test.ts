import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestRedelivery } from '../../src/catch-up/by-hand.js';
import { patienceMs } from '../../src/platform/batch.js';
import { createLeases } from '../../src/engine/attempt/leases.js';
import { claimRedeliveries } from '../../src/engine/outbox/redelivery.js';
import { noRoom, type Claim, type DueClaim } from '../../src/engine/outbox/types.js';
import type { Database } from '../../src/platform/database/postgres.js';
import { unavailable } from '../../src/platform/errors.js';
import {
  createSweeper,
  finish,
  lapse,
  leaseMs,
  longHoldMs,
  muchRoom,
  pull,
  record,
  terminalStates,
} from '../support/core/acts.js';
import { replay } from '../support/core/replays.js';
import { now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import { addShipment, logger } from '../support/core/world.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, redeliveries');

const givingBack = (leaseDb: Database, db: Database = world.db) => {
  const leases = createLeases({
    db,
    leaseDb,
    logger,
    durations: { leaseMs: 10_000, patienceMs: 10_000 },
    claims: () => [],
    orderHoldMs: longHoldMs,
    terminalStates,
    isDraining: () => false,
    notify: () => undefined,
  });
  leases.stop();
  return leases.giveBack;
};

const refused = () => Object.assign(unavailable(), { cause: new Error('connect ECONNREFUSED') });
const responseLost = () =>
  Object.assign(unavailable(), { cause: new Error('Connection terminated unexpectedly') });

const seeing = (query: (ids: string[], run: () => Promise<unknown>) => Promise<unknown>): Database => ({
  ...world.db,
  query: (name, text, values) =>
    query(values![1] as string[], () => world.db.query(name, text, values)) as Promise<never[]>,
});

test('a claim is given back again after an outage', async () => {
  const claims = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
  let outages = 2;
  const db = seeing((_, run) => (outages-- > 0 ? Promise.reject(refused()) : run()));
  await givingBack(db)(claims[0]!);
  expect(await now()).toEqual(['1 READY']);
});

test('a claim is not given back again if the response was lost: a later claim may have it, and keeps it', async () => {
  const claims = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
  let next: Claim[] = [];
  const db = seeing(async (_, run) => {
    await run();
    next = [...next, ...(await pull(world.db, webhookId))];
    throw responseLost();
  });
  await expect(givingBack(db)(claims[0]!)).rejects.toThrow();
  expect(next.map(({ number }) => number)).toEqual([1]); // the number is the same and does not distinguish the claims
  expect(await now()).toEqual(['1 SENDING']);
});

test('a redelivery is not given back again if the response was lost', async () => {
  const [claim] = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
  await finish(world.db, [claim!], 'SUCCEEDED');
  await requestRedelivery(world.db, world.shipperId, claim!.deliveryId);
  const claimIt = () => claimRedeliveries(world.db, [claim!.deliveryId], leaseMs);
  const [first] = await claimIt();
  let isLost = false;
  const db: Database = {
    ...world.db,
    query: async <Row>(...query: Parameters<Database['query']>) => {
      const rows = await world.db.query<Row>(...query);
      if (query[0] !== 'give-redelivery-back' || isLost) return rows;
      isLost = true;
      await claimIt();
      throw responseLost();
    },
  };
  await expect(givingBack(world.db, db)(first!)).rejects.toThrow();
  const held = await world.sql('select number from redeliveries where lease_until is not null');
  expect(held).toEqual([{ number: 2 }]);
});

test('deliveries already given back are not given back again along with locked ones', async () => {
  const shipments = [shipmentId, await addShipment(world)];
  const claims: DueClaim[] = [];
  for (const one of shipments) claims.push(...(await record(world.db, one, ['CREATED'], { room: muchRoom })));
  const asked: string[][] = [];
  const db = seeing(async (ids, run) => {
    asked.push(ids);
    if (asked.length === 2) throw refused();
    if (asked.length > 1) return run();
    return world.db.transaction(async (tx) => {
      await tx.query('', 'select 1 from outbox where delivery_id = $1 for update', [claims[1]!.deliveryId]);
      return run();
    });
  });
  const giveBack = givingBack(db);
  await Promise.all(claims.map(giveBack));
  const both = claims.map(({ deliveryId }) => deliveryId);
  expect(asked.map((ids) => [...ids].sort())).toEqual([[...both].sort(), [both[1]], [both[1]]]);
  expect(await now()).toEqual(['1 READY', '1 READY']);
});

test('a claimed state that was overtaken is skipped, and the later state is released', async () => {
  await world.sql('update webhooks set supersede = true');
  const claims = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
  await record(world.db, shipmentId, ['PICKED_UP']);
  expect(await now()).toEqual(['1 SENDING', '2 waits']);
  await givingBack(world.db)(claims[0]!);
  expect(await now()).toEqual(['1 SUPERSEDED', '2 READY']);
});

test('without order, a state that fails after a later one was delivered is skipped', async () => {
  await world.sql(`update webhooks set supersede = true, ordering = 'NONE'`);
  const first = await record(world.db, shipmentId, ['CREATED'], { room: muchRoom });
  const second = await record(world.db, shipmentId, ['PICKED_UP'], { room: muchRoom });
  await finish(world.db, second, 'SUCCEEDED');
  await finish(world.db, first, 'RETRY');
  expect(await now()).toEqual(['1 SUPERSEDED', '2 SUCCEEDED']);
});

test.each(['READY', 'a claim that has run out'])(
  'the sweeper skips an overtaken state that was left: %s',
  async (what) => {
    const claims = await record(world.db, shipmentId, ['CREATED', 'DELIVERED'], {
      room: what === 'READY' ? noRoom : muchRoom,
    });
    await world.sql('update webhooks set supersede = true');
    await lapse(world);
    const { sweep, notified } = createSweeper(world.db);
    await sweep();
    expect(await now()).toEqual(['1 SUPERSEDED', '2 READY']);
    expect([...notified]).toEqual([webhookId]);
    expect(await finish(world.db, claims, 'SUCCEEDED')).toEqual([]);
  },
);

test('neither a terminal state nor one without a later owed state is skipped', async () => {
  await world.sql(`update webhooks set supersede = true, interests = '{CREATED,DELIVERED}'`);
  await finish(world.db, await record(world.db, shipmentId, ['CREATED'], { room: muchRoom }), 'RETRY');
  await record(world.db, shipmentId, ['IN_TRANSIT']);
  const other = await addShipment(world);
  await finish(world.db, await record(world.db, other, ['DELIVERED'], { room: muchRoom }), 'RETRY');
  await world.sql(`update webhooks set interests = '{*}'`);
  await record(world.db, other, ['RETURNED']);
  await createSweeper(world.db).sweep();
  expect((await now()).sort()).toEqual(['1 RETRY', '1 RETRY', '2 waits']);
});

test('a delivery brought back by a replay is not skipped, even if it fails again', async () => {
  await world.sql('update webhooks set supersede = true');
  await finish(world.db, await record(world.db, shipmentId, ['CREATED'], { room: muchRoom }), 'FAILED');
  await finish(world.db, await record(world.db, shipmentId, ['PICKED_UP'], { room: muchRoom }), 'SUCCEEDED');
  await replay(world, world.db, webhookId);
  await createSweeper(world.db).sweep();
  expect(await now()).toEqual(['1 READY', '2 SUCCEEDED']);
  await finish(world.db, await pull(world.db, webhookId), 'RETRY');
  await createSweeper(world.db).sweep();
  expect(await now()).toEqual(['1 RETRY', '2 SUCCEEDED']);
});

test('a claim that waits for the next statement is given back although the one before ends in doubt', async () => {
  const claims = [
    ...(await record(world.db, shipmentId, ['CREATED'], { room: muchRoom })),
    ...(await record(world.db, await addShipment(world), ['CREATED'], { room: muchRoom })),
  ];
  let asked = 0;
  const db = seeing(async (_, run) => {
    asked += 1;
    if (asked > 1) return run();
    await sleep(patienceMs + 100); // until the second times out
    throw responseLost();
  });
  const giveBack = givingBack(db);
  const first = expect(giveBack(claims[0]!)).rejects.toThrow();
  await sleep(10);
  await giveBack(claims[1]!);
  await first;
  expect((await now()).sort()).toEqual(['1 READY', '1 SENDING']);
});
