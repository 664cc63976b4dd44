import { giveBack, renewLeases } from '../../src/engine/outbox/claim.js';
import {
  releaseTurns,
  makeTurnsWait,
  recomputeTurns,
  cancelExpired,
  cancelOwed,
  supersede,
} from '../../src/engine/outbox/turns.js';
import type { Claim, Turn } from '../../src/engine/outbox/types.js';
import { claimRedeliveries, settleRedelivery } from '../../src/engine/outbox/redelivery.js';
import { requestRedelivery } from '../../src/catch-up/by-hand.js';
import type { Database } from '../../src/platform/database/postgres.js';
import { markDeleted, updateWebhook } from '../../src/webhooks/store.js';
import {
  finish,
  lapse,
  leaseMs,
  longHoldMs,
  pull,
  recordAll,
  settlementOf,
  takeUpLapsed,
  terminalStates,
} from '../support/core/acts.js';
import { cancel, replay } from '../support/core/replays.js';
import {
  addShipments,
  addWebhook,
  forNewShipper,
  logOf,
  outboxOf,
  type World,
} from '../support/core/world.js';

/**
 * One webhook with a failed shipment and two states behind it, a state sent by an apparently dead worker, a shipment
 * whose first state finally failed and whose next waits for its retry, a due state, and one missed because the
 * webhook was registered later.
 */
export interface Scene {
  world: World;
  webhookId: string;
  failing: string;
  sending: string;
  failed: string;
  due: string;
  missed: string;
  claims: Claim[];
  deliveryIds: string[];
}

const minuteMs = 60_000;

/** Each of a shipper of its own; set together, because that takes no longer than one alone. */
export async function setScenes(world: World, count: number): Promise<Scene[]> {
  const { db } = world;
  const places = await Promise.all(
    Array.from({ length: count }, async () => {
      const own = await forNewShipper(world);
      const [failing, sending, failed, due, missed] = (await addShipments(own, 5)) as Five;
      return { world: own, failing, sending, failed, due, missed };
    }),
  );
  type Shipment = 'failing' | 'sending' | 'failed' | 'due' | 'missed';
  const of = (shipment: Shipment) => places.map((place) => place[shipment]);
  const recordEach = (...states: [Shipment, string][]) =>
    recordAll(
      db,
      places.flatMap((place) =>
        states.map(([shipment, state]): [string, string] => [place[shipment], state]),
      ),
    );
  await recordEach(['missed', 'CREATED'], ['missed', 'PICKED_UP']);
  const webhookIds = await Promise.all(places.map((place) => addWebhook(place.world)));

  await recordEach(['failed', 'CREATED']);
  await finish(db, await pull(db, webhookIds), 'FAILED');
  await recordEach(['failed', 'PICKED_UP'], ['failing', 'CREATED']);
  await finish(db, await pull(db, webhookIds), 'RETRY', { delayMs: minuteMs });
  await world.sql(`update outbox set due_at = now() + interval '1 hour' where shipment_id = any($1)`, [
    of('failing'),
  ]);
  await recordEach(
    ['failed', 'IN_TRANSIT'],
    ['failing', 'PICKED_UP'],
    ['failing', 'IN_TRANSIT'],
    ['sending', 'CREATED'],
    ['sending', 'PICKED_UP'],
  );
  const claims = await pull(db, webhookIds);
  await lapse(world);
  await world.sql(`update outbox set due_at = now() where shipment_id = any($1) and not waits_turn`, [
    of('failing'),
  ]);
  await recordEach(['due', 'CREATED']);
  const known = await world.sql<{ delivery_id: string; webhook_id: string }>(
    `select delivery_id, webhook_id from outbox where webhook_id = any($1)
      union all select delivery_id, webhook_id from deliveries where webhook_id = any($1)`,
    [webhookIds],
  );
  return places.map((place, n) => {
    const webhookId = webhookIds[n]!;
    return {
      ...place,
      webhookId,
      claims: claims.filter((claim) => claim.webhookId === webhookId),
      deliveryIds: known.filter((row) => row.webhook_id === webhookId).map((row) => row.delivery_id),
    };
  });
}
type Five = [string, string, string, string, string];

/** Its statement on the outbox is named `statement`. */
export interface Deed {
  statement: string;
  /** It changes the rows of all webhooks. */
  isGlobal?: true;
  run(db: Database, scene: Scene): Promise<unknown>;
}

const turnsOf = ({ webhookId, failing, sending, failed, due, missed }: Scene): Turn[] =>
  [failing, sending, failed, due, missed].sort().map((shipmentId) => ({ webhookId, shipmentId }));

/** Gives turns as the service does after it changes earlier states. */
const thenGiveTurns = (db: Database, scene: Scene) => releaseTurns(db, turnsOf(scene), longHoldMs);

const sendAll = async (db: Database, scene: Scene, status: 'SUCCEEDED' | 'RETRY') =>
  finish(db, await pull(db, scene.webhookId), status);

const redeliver = async (db: Database, scene: Scene, succeeded: boolean) => {
  const known = [
    ...(await outboxOf(scene.world, scene.webhookId)),
    ...(await logOf(scene.world, scene.webhookId)),
  ];
  const wanted = known.filter(({ shipment_id: id }) => id === scene.failing || id === scene.failed);
  const ids = wanted.map((row) => row.delivery_id);
  for (const id of ids) await requestRedelivery(scene.world.db, scene.world.shipperId, id);
  for (const claim of await claimRedeliveries(db, ids, leaseMs))
    await settleRedelivery(db, settlementOf(claim, succeeded ? 'SUCCEEDED' : 'RETRY'));
  await thenGiveTurns(db, scene);
};

const orderNoMore = async (db: Database, { webhookId, world }: Scene) => {
  await updateWebhook(world.db, world.shipperId, webhookId, { ordering: 'NONE' });
  await recomputeTurns(db, webhookId, longHoldMs);
};

const orderAnew = async (db: Database, { webhookId, world }: Scene) => {
  await updateWebhook(world.db, world.shipperId, webhookId, { ordering: 'NONE' });
  await recomputeTurns(world.db, webhookId, longHoldMs);
  await updateWebhook(world.db, world.shipperId, webhookId, { ordering: 'SHIPMENT' });
  await recomputeTurns(db, webhookId, longHoldMs);
};

/** Every operation that writes rows of the outbox that others may write concurrently. */
export const deeds: Record<string, Deed> = {
  'recording the next states': {
    statement: 'insert-events',
    run: (db, { failing, sending, failed, due }) =>
      recordAll(
        db,
        [failing, sending, failed, due].map((id) => [id, 'OUT_FOR_DELIVERY']),
      ),
  },
  'pulling and succeeding': { statement: 'pull-due', run: (db, scene) => sendAll(db, scene, 'SUCCEEDED') },
  'pulling and failing': { statement: 'pull-due', run: (db, scene) => sendAll(db, scene, 'RETRY') },
  'a success': { statement: 'settle', run: (db, { claims }) => finish(db, claims, 'SUCCEEDED') },
  'a failure that is retried': { statement: 'settle', run: (db, { claims }) => finish(db, claims, 'RETRY') },
  'giving a claim back': { statement: 'give-back', run: (db, { claims }) => giveBack(db, claims) },
  'renewing a lease': {
    statement: 'renew-leases',
    run: (db, { claims }) => renewLeases(db, claims, leaseMs),
  },
  'giving turns': { statement: 'release-turns', run: thenGiveTurns },
  'holding turns': {
    statement: 'make-turns-wait',
    run: async (db, scene) => {
      await makeTurnsWait(db, turnsOf(scene), longHoldMs);
      await thenGiveTurns(db, scene);
    },
  },
  superseding: {
    statement: 'supersede',
    run: async (db, scene) => {
      const turns = turnsOf(scene).map((turn) => ({ ...turn, before: null }));
      await supersede(db, turns, terminalStates);
      await thenGiveTurns(db, scene);
    },
  },
  'ordering no more': { statement: 'recompute-turns', run: orderNoMore },
  'ordering anew': { statement: 'recompute-turns', run: orderAnew },
  'a replay': { statement: 'replay-piece', run: (db, { world, webhookId }) => replay(world, db, webhookId) },
  'cancelling a replay': {
    statement: 'withdraw-page',
    run: async (db, { world, webhookId }) => cancel(world, db, await replay(world, world.db, webhookId)),
  },
  'taking up lapsed claims': {
    statement: 'take-lapsed',
    isGlobal: true,
    run: (db) => takeUpLapsed(db),
  },
  'deleting the webhook': {
    statement: 'cancel-owed',
    run: async (db, { world, webhookId }) => {
      await markDeleted(world.db, world.shipperId, webhookId);
      await cancelOwed(db, webhookId, 1_000);
    },
  },
  'cancelling what is too old': {
    statement: 'cancel-expired',
    isGlobal: true,
    run: async (db, scene) => {
      await cancelExpired(db, -1_000, 1_000);
      await thenGiveTurns(db, scene);
    },
  },
  'a redelivery that succeeds': {
    statement: 'claim-redeliveries',
    run: (db, scene) => redeliver(db, scene, true),
  },
  'a redelivery that fails': {
    statement: 'claim-redeliveries',
    run: (db, scene) => redeliver(db, scene, false),
  },
};
