import { expect } from '@jest/globals';
import { cancelReplay } from '../../../src/catch-up/replay/cancel-replay.js';
import type { Due } from '../../../src/engine/outbox/types.js';
import { durationsOf } from '../../../src/platform/durations.js';
import { findReplay, insertReplay } from '../../../src/catch-up/replay/request-store.js';
import { advanceReplays } from '../../../src/catch-up/replay/replay.js';
import { readFeedExtent } from '../../../src/feed/extent-store.js';
import { newId } from '../../../src/platform/ids.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { longHoldMs, pull, terminalStates } from './acts.js';
import { expectSoundRows } from './checks.js';
import { logger, picture, type World } from './world.js';

const dayMs = 86_400_000;

/** A replay of all events; null for a deleted webhook. */
export async function askForReplay(world: World, webhookId: string, events = 1_000): Promise<string> {
  const replayId = newId();
  const range = {
    webhookId,
    shipperId: world.shipperId,
    from: new Date(Date.now() - dayMs),
    to: new Date(Date.now() + 1_000),
    loggedSince: new Date(0),
    latest: new Date(Date.now() + 1_000),
    deliveryStatus: null,
    trackingId: null,
  };
  await insertReplay(world.db, replayId, range, { maxOfWebhook: 10, maxOfShipper: 20, maxEvents: events });
  return replayId;
}

export const horizon = async (tx: Database) => (await readFeedExtent(tx)).horizon;

export const advance = (db: Database): Promise<boolean> =>
  advanceReplays({
    db,
    logger,
    retentionMs: 30 * dayMs,
    orderHoldMs: longHoldMs,
    replayEveryMs: 0,
    terminalStates,
    horizon,
    notify: () => undefined,
  });

export async function replay(world: World, db: Database, webhookId: string): Promise<string> {
  const replayId = await askForReplay(world, webhookId);
  await advance(db);
  return replayId;
}

/** Cancels as its owner does; takes its deliveries back as a worker does. */
export const cancel = (
  world: World,
  db: Database,
  replayId: string,
  notify: (due: Due[]) => void = () => undefined,
) =>
  cancelReplay(
    {
      db,
      logger,
      durations: { ...durationsOf(), maxStartMs: 0, startMarginMs: 0 },
      orderHoldMs: longHoldMs,
      notify,
    },
    { kind: 'USER', name: null, address: null },
    { replayId, shipperId: world.shipperId },
  );

/** Status, done deliveries, total. */
export async function progressOf(world: World, replayId: string): Promise<[string, number, number | null]> {
  const { status, done, total } = (await findReplay(world.db, replayId, null))!;
  return [status, done, total];
}

export const withdrawing = 'select 1 from replays where withdrawing';

/** Nothing of it is sent any more, and its failed deliveries have failed. */
export async function expectWithdrawn(
  world: World,
  webhookId: string,
  replayId: string,
  outcome = ['1 FAILED'],
): Promise<void> {
  await advance(world.db);
  expect(await pull(world.db, webhookId)).toEqual([]);
  expect(await picture(world, webhookId)).toEqual(outcome);
  await expectSoundRows(world);
  expect((await progressOf(world, replayId))[0]).toBe('CANCELLED');
  expect(await world.sql(withdrawing)).toEqual([]);
}
