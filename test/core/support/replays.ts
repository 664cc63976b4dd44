import { advanceReplays } from '../../../src/deliveries/replay/replay.js';
import { insertReplay } from '../../../src/deliveries/replay/store.js';
import { newId } from '../../../src/platform/ids.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { longHoldMs } from './acts.js';
import { logger, type World } from './world.js';

const dayMs = 86_400_000;

/** Asks for everything that a webhook missed. A deleted one gets no replay. */
export async function askForReplay(world: World, webhookId: string): Promise<void> {
  const range = {
    webhookId,
    shipperId: world.shipperId,
    from: new Date(Date.now() - dayMs),
    to: new Date(Date.now() + 1_000),
    deliveryStatus: null,
    trackingId: null,
  };
  await insertReplay(world.db, newId(), range, 10);
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

export async function replay(world: World, db: Database, webhookId: string): Promise<void> {
  await askForReplay(world, webhookId);
  await advance(db);
}
