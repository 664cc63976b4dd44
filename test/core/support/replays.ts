import { cancelReplay } from '../../../src/deliveries/replay/cancel.js';
import { timesOf } from '../../../src/deliveries/outbox/times.js';
import { advanceReplays } from '../../../src/deliveries/replay/replay.js';
import { insertReplay } from '../../../src/deliveries/replay/request-store.js';
import { newId } from '../../../src/platform/ids.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { longHoldMs } from './acts.js';
import { logger, type World } from './world.js';

const dayMs = 86_400_000;

/** Asks for everything that a webhook missed; the replay. A deleted one gets none. */
export async function askForReplay(world: World, webhookId: string, events = 1_000): Promise<string> {
  const replayId = newId();
  const range = {
    webhookId,
    shipperId: world.shipperId,
    from: new Date(Date.now() - dayMs),
    to: new Date(Date.now() + 1_000),
    keptSince: new Date(0),
    latest: new Date(Date.now() + 1_000),
    deliveryStatus: null,
    trackingId: null,
  };
  await insertReplay(world.db, replayId, range, { atOnce: 10, events });
  return replayId;
}

/** Works replays off, with the turns that follow. */
export const advance = (db: Database): Promise<boolean> =>
  advanceReplays({
    db,
    logger,
    retentionMs: 30 * dayMs,
    orderHoldMs: longHoldMs,
    replayEveryMs: 0,
    look: () => undefined,
  });

export async function replay(world: World, db: Database, webhookId: string): Promise<string> {
  const replayId = await askForReplay(world, webhookId);
  await advance(db);
  return replayId;
}

/** Cancels a replay as its owner does, and sees to what an attempt under way has left as a worker does. */
export const cancel = (world: World, db: Database, replayId: string) =>
  cancelReplay(
    {
      db,
      logger,
      times: { ...timesOf(), longestStartMs: 0 },
      orderHoldMs: longHoldMs,
      look: () => undefined,
    },
    { kind: 'USER', name: null, address: null },
    { replayId, shipperId: world.shipperId },
  );
