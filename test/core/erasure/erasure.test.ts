import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { claimRedeliveries, settleRedelivery } from '../../../src/engine/outbox/redelivery.js';
import { requestRedelivery } from '../../../src/catch-up/by-hand.js';
import type { Claim } from '../../../src/engine/outbox/types.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { createRetention } from '../../../src/shipments/erasure.js';
import { findInDatabase } from '../../support/database.js';
import { drain, leaseMs, pull, settlementOf } from '../../support/core/acts.js';
import { doneOrWaiting, stopAt, type StopAt } from '../../support/core/barriers.js';
import {
  addPlantedOrder,
  settlePlanted,
  erase,
  erasing,
  planted,
  plantedWords,
  recordPlanted,
} from '../../support/core/erasures.js';
import { replay } from '../../support/core/replays.js';
import { everyOther } from '../../support/runs.js';
import { addWebhook, createWorld, logger, logOf, outboxOf, type World } from '../../support/core/world.js';

let world: World;
let webhookId: string;
let shipmentId: string;
/** Succeeded, finally failed, waiting for its retry, due. */
const states = ['CREATED', 'PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY'];

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  webhookId = await addWebhook(world, { ordering: 'NONE' });
  shipmentId = await addPlantedOrder(world);
  const [first, second, third] = await recordPlanted(world.db, shipmentId, states.slice(0, 3));
  await settlePlanted(world.db, [first!], 'SUCCEEDED');
  await settlePlanted(world.db, [second!], 'FAILED');
  await settlePlanted(world.db, [third!], 'RETRY');
  await recordPlanted(world.db, shipmentId, states.slice(3), { byWebhook: {}, ofOthers: 0, total: 0 });
});
afterEach(() =>
  world.sql(
    'truncate outbox, deliveries, attempts, redeliveries, events, shipments, webhooks, replays cascade',
  ),
);

const hits = () => findInDatabase(world.sql, plantedWords);
const firstDelivery = async () => (await logOf(world, webhookId))[0]!.delivery_id;

test.each([
  ['a worker', () => createRetention({ ...erasing(world.db), logger, retentionMs: 3_600_000 })()],
  ['asking again', () => erase(world.db, shipmentId)],
])('an erasure whose process is killed after its commit is finished by %s', async (_, finish) => {
  const claims = await pull(world.db, webhookId);
  await world.db.transaction(async (tx) => {
    await tx.query('', 'select 1 from outbox for update'); // the erasure skips locked rows
    const killed = { ...world.db, transaction: once(world.db.transaction) };
    await expect(erase(killed, shipmentId)).rejects.toThrow('killed');
  });
  await settlePlanted(world.db, claims, 'SUCCEEDED');
  expect(await hits()).not.toEqual([]);
  await finish();
  expect(await hits()).toEqual([]);
  expect(await outboxOf(world)).toEqual([]);
  expect(await world.sql('select 1 from erasures_under_way')).toEqual([]);
});

/** Works once, as if the process were killed before the second call. */
function once<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) {
  let times = 0;
  return (...args: Args): Promise<Result> =>
    (times += 1) === 1 ? work(...args) : Promise.reject(new Error('killed'));
}

test('an erasure that cancels deliveries holds up no recording of its shipment', async () => {
  const stop = stopAt(world, 'cancel-erased', 'COMMIT');
  const erasing = erase(stop.db, shipmentId);
  await stop.reached;
  const recording = recordPlanted(world.db, shipmentId, ['DELIVERED']);
  expect(await doneOrWaiting(world.db, recording)).toBe('done');
  stop.go();
  await Promise.all([recording, erasing]);
  expect(await hits()).toEqual([]);
});

test('a transaction rewrites at most 1,000 events and 4 MiB of them, however many a shipment has', async () => {
  await recordPlanted(world.db, shipmentId, Array<string>(2_500).fill('IN_TRANSIT'));
  await world.sql(`update events set body = jsonb_set(body::jsonb, '{anomalies}', to_jsonb(repeat('x', 200000)))
    where sequence <= 30`);
  const pieces: { events: number; bytes: number }[] = [];
  const db: Database = {
    query: world.db.query,
    transaction: (work) =>
      world.db.transaction((tx) => {
        const piece = { events: 0, bytes: 0 };
        pieces.push(piece);
        const query: Database['query'] = async (name, ...rest) => {
          const rows = await tx.query<any>(name, ...rest);
          if (name === 'find-events-to-erase')
            for (const { body } of rows) {
              piece.events += 1;
              piece.bytes += (body as string).length;
            }
          return rows;
        };
        return work({ ...tx, query });
      }),
  };
  await erase(db, shipmentId);
  expect(pieces.reduce((sum, { events }) => sum + events, 0)).toBe(2_504);
  for (const { events, bytes } of pieces) {
    expect(events).toBeLessThanOrEqual(1_000);
    expect(bytes).toBeLessThan(4 * 1024 ** 2 + 256 * 1024);
  }
  expect(await hits()).toEqual([]);
});

test('a delivery sent before a later transaction erases its event leaves no personal data either', async () => {
  await recordPlanted(world.db, shipmentId, Array<string>(1_100).fill('IN_TRANSIT'), {
    byWebhook: {},
    ofOthers: 0,
    total: 0,
  });
  let transactions = 0;
  const answers: number[] = [];
  const between: Database = {
    query: world.db.query,
    transaction: async (work) => {
      transactions += 1;
      if (transactions === 2) {
        await world.sql(`update outbox set due_at = now() - interval '1 hour' where sequence > 1000`);
        const claims = await pull(world.db, webhookId);
        answers.push(claims.filter(({ sequence }) => sequence > 1_004).length);
        await settlePlanted(world.db, claims.slice(1), 'SUCCEEDED');
      }
      return world.db.transaction(work);
    },
  };
  await erase(between, shipmentId);
  expect(answers[0]).toBeGreaterThan(10);
  expect(await hits()).toEqual([]);
  expect(await outboxOf(world)).toEqual([]);
});

interface Other {
  /** Where it is stopped while the shipment is erased. */
  stops: [statement: string, where: StopAt][];
  /** The claims that it returns are sent, and get a response, after the erasure. */
  run(db: Database): Promise<Claim[]>;
}

const atBoth = (statement: string): Other['stops'] => [
  [statement, 'SNAPSHOT'],
  [statement, 'COMMIT'],
];
const others: Record<string, Other> = {
  'recording a state': {
    stops: [...atBoth('insert-events'), ['load-shipments', 'COMMIT']],
    run: (db) => recordPlanted(db, shipmentId, ['DELIVERED']),
  },
  pulling: { stops: atBoth('pull-due'), run: (db) => pull(db, webhookId) },
  'a success': { stops: atBoth('settle'), run: (db) => sendAll(db, 'SUCCEEDED') },
  'a failure that is retried': { stops: atBoth('settle'), run: (db) => sendAll(db, 'RETRY') },
  'a replay': {
    stops: atBoth('replay-piece'),
    run: async (db) => {
      await replay(world, db, webhookId);
      return [];
    },
  },
  'a redelivery': {
    stops: [
      ['request-redelivery', 'COMMIT'],
      ...atBoth('claim-redeliveries'),
      ...atBoth('settle-redelivery'),
    ],
    run: redeliver,
  },
};

async function sendAll(db: Database, status: 'SUCCEEDED' | 'RETRY'): Promise<Claim[]> {
  const claims = await pull(world.db, webhookId);
  await settlePlanted(db, claims, status);
  return [];
}

async function redeliver(db: Database): Promise<Claim[]> {
  const ids = [await firstDelivery(), ...(await outboxOf(world, webhookId)).map((row) => row.delivery_id)];
  for (const id of ids) await requestRedelivery(db, world.shipperId, id);
  const claims = await claimRedeliveries(db, ids, leaseMs);
  expect(claims.filter(({ erased }) => erased)).toEqual([]); // no claim is of an erased shipment
  for (const claim of claims)
    await settleRedelivery(db, {
      ...settlementOf(claim, 'SUCCEEDED'),
      responseBody: claim.erased ? null : planted.response,
      detail: claim.erased ? null : planted.response,
    });
  return [];
}

/** Earlier states are neither owed nor stored; later ones are sent. */
async function expectErased(claims: Claim[]): Promise<void> {
  await settlePlanted(world.db, claims, 'SUCCEEDED');
  expect(await hits()).toEqual([]);
  const erased = `select event_id from events where shipment_id = $1 and erasure = 'DONE'`;
  expect(await world.sql(`select 1 from outbox where event_id in (${erased})`, [shipmentId])).toEqual([]);
  expect(await world.sql(`select 1 from redeliveries`)).toEqual([]);
  await drain(world);
  expect(await hits()).toEqual([]);
  const log = await logOf(world, webhookId);
  const events = await world.sql(`select 1 from events where shipment_id = $1`, [shipmentId]);
  expect(log).toHaveLength(events.length); // each is in the log once
}

describe.each(Object.entries(others))('%s', (_, { stops, run }) => {
  test.each(stops)(
    'its %s stopped at its %s during the erasure brings no personal data back',
    async (at, where) => {
      const stop = stopAt(world, at, where);
      const running = run(stop.db);
      await Promise.race([stop.reached, running]);
      const looked = stopAt(world, 'is-erased-owed', 'COMMIT'); // after its commit
      const erasing = erase(looked.db, shipmentId);
      await Promise.race([looked.reached, doneOrWaiting(world.db, erasing)]);
      stop.go();
      looked.go();
      const [claims] = await Promise.all([running, erasing]);
      await expectErased(claims);
    },
  );

  test.each(
    everyOther<[string, StopAt]>([
      ['mark-erased', 'COMMIT'],
      ['erase-events', 'COMMIT'],
      ['cancel-erased', 'SNAPSHOT'],
      ['cancel-erased', 'COMMIT'],
    ]),
  )('during an erasure stopped at its %s (%s) brings no personal data back', async (at, where) => {
    const stop = stopAt(world, at, where);
    const erasing = erase(stop.db, shipmentId);
    await stop.reached;
    const running = run(world.db);
    await doneOrWaiting(world.db, running);
    stop.go();
    const [claims] = await Promise.all([running, erasing]);
    await expectErased(claims);
  });
});
