import fc from 'fast-check';
import { cancelOwed, releaseTurns } from '../../../src/engine/outbox/turns.js';
import { createFold } from '../../../src/history/stats/store.js';
import { parkPage } from '../../../src/catch-up/replay/parked-store.js';
import type { Claim } from '../../../src/engine/outbox/types.js';
import { markDeleted } from '../../../src/webhooks/store.js';
import {
  createSweeper,
  finish,
  longHoldMs,
  muchRoom,
  pull,
  record,
  takeUpLapsed,
} from '../../support/core/acts.js';
import { advance, cancel, replay } from '../../support/core/replays.js';
import { addShipment, addWebhook, setStatus, type World, logger } from '../../support/core/world.js';

const webhooks = 3;
const shipments = 3;
const states = ['IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];

const webhook = fc.nat(webhooks - 1);
const shipment = fc.nat(shipments - 1);

export const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('record' as const),
      shipment,
      states: fc.array(fc.constantFrom(...states), { minLength: 1, maxLength: 3 }),
      claimed: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('pull' as const),
      webhook,
      room: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      count: fc.integer({ min: 1, max: 3 }),
      status: fc.constantFrom(
        'SUCCEEDED' as const,
        'SUCCEEDED' as const,
        'RETRY' as const,
        'FAILED' as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pause' as const), webhook }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resume' as const), webhook }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('turns' as const), shipment }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replay' as const), webhook }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), webhook }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('park' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lapse' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fold' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const) }) },
);

export type Step = typeof step extends fc.Arbitrary<infer Kind> ? Kind : never;

export const walk = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 5, maxLength: 20 });

export interface Walk {
  /** The last one may be deleted; the one before has supersede set. */
  webhookIds: string[];
  shipmentIds: string[];
  claims: Claim[];
  /** Successful attempts, in order. */
  succeeded: Claim[];
  /** Deliveries that finally failed: a replay may bring them back behind later ones. */
  failed: Set<string>;
}

export async function beginWalk(world: World): Promise<Walk> {
  const webhookIds = [
    await addWebhook(world),
    await addWebhook(world, { supersede: true }),
    await addWebhook(world),
  ];
  const shipmentIds = [await addShipment(world), await addShipment(world), await addShipment(world)];
  return { webhookIds, shipmentIds, claims: [], succeeded: [], failed: new Set() };
}

export async function take(world: World, walk: Walk, done: Step): Promise<void> {
  const { db } = world;
  switch (done.kind) {
    case 'record':
      walk.claims.push(
        ...(await record(
          db,
          walk.shipmentIds[done.shipment]!,
          done.states,
          done.claimed ? { room: muchRoom } : {},
        )),
      );
      return;
    case 'pull':
      walk.claims.push(...(await pull(db, walk.webhookIds[done.webhook]!, done.room)));
      return;
    case 'settle':
      return settleSome(world, walk, done.count, done.status);
    case 'pause':
      return void (await setStatus(world, walk.webhookIds[done.webhook]!, 'PAUSED'));
    case 'resume':
      return void (await setStatus(world, walk.webhookIds[done.webhook]!, 'ACTIVE'));
    case 'turns': {
      const shipmentId = walk.shipmentIds[done.shipment]!;
      const turns = walk.webhookIds.map((webhookId) => ({ webhookId, shipmentId }));
      return void (await releaseTurns(db, turns, longHoldMs));
    }
    case 'replay':
      return void (await replay(world, db, walk.webhookIds[done.webhook]!));
    case 'cancel':
      return cancelNewest(world, walk.webhookIds[done.webhook]!);
    case 'park':
      return void (await parkPage(db, null, { limit: 100, parkedAfter: 1 }));
    case 'advance':
      return void (await advance(db));
    case 'lapse':
      await world.sql(
        // Locks as the service does: ordered by id, skipping locked rows.
        `update outbox set lease_until = now() - interval '1 second'
          where (shipper_id, delivery_id) in (
            select shipper_id, delivery_id from outbox where status = 'SENDING'
             order by delivery_id limit 2 for update skip locked)`,
      );
      return void (await takeUpLapsed(db));
    case 'sweep':
      return void (await createSweeper(db).sweep());
    case 'fold':
      return void (await createFold(db, logger)());
    case 'delete': {
      const webhookId = walk.webhookIds.at(-1)!;
      await markDeleted(db, world.shipperId, webhookId);
      return void (await cancelOwed(db, webhookId, 1_000));
    }
  }
}

async function settleSome(world: World, walk: Walk, count: number, status: 'SUCCEEDED' | 'RETRY' | 'FAILED') {
  const claims = walk.claims.splice(0, count);
  const accepted = await finish(world.db, claims, status);
  if (status === 'SUCCEEDED') walk.succeeded.push(...accepted);
  if (status === 'FAILED') for (const { deliveryId } of accepted) walk.failed.add(deliveryId);
}

async function cancelNewest(world: World, webhookId: string): Promise<void> {
  const [newest] = await world.sql<{ replay_id: string }>(
    `select replay_id from replays where webhook_id = $1 and status = 'RUNNING' and kind = 'ASKED'
      order by replay_id desc limit 1`,
    [webhookId],
  );
  if (newest) await cancel(world, world.db, newest.replay_id);
}
