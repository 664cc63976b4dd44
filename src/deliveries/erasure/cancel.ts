import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import { cancelErased } from '../outbox/cancel.js';
import { lockMoves } from '../outbox/moves.js';
import type { Times } from '../times.js';
import { untilNoSendCanStart } from '../send/starts.js';
import { eraseAnswers, findReplayed, isErasedOwed, takeBackAsked } from './store.js';

export interface ErasedShipment {
  shipmentId: string;
  shipperId: string;
}

const againAfterMs = 50;
const maxTimes = 40;

/**
 * Cancels what is owed of events that this transaction, or one before, has erased, and erases what receivers answered.
 * It waits for replays of the shipper, which may have seen the events as they were, and passes over what others have
 * locked.
 */
export async function cancelOnce(tx: Database, shipments: ErasedShipment[], leaseMs: number): Promise<void> {
  const shipmentIds = shipments.map(({ shipmentId }) => shipmentId);
  const replayed = await findReplayed(tx, [...new Set(shipments.map(({ shipperId }) => shipperId))]);
  if (replayed.length > 0) await lockMoves(tx, replayed);
  const byHand = await takeBackAsked(tx, shipmentIds);
  await cancelErased(tx, shipmentIds, { leaseMs, byHand });
  await eraseAnswers(tx, shipmentIds);
}

/**
 * Resolves when nothing of the erased events is sent, owed or answered any more; to be called after the commit that
 * erased them. Who claimed one before that commit has sent it by the end of the wait, or never does; so what it is then
 * found to have claimed is taken from it before it can record an answer.
 */
export async function untilNothingIsOwed(
  { db, times }: { db: Database; times: Times },
  shipments: ErasedShipment[],
): Promise<void> {
  await untilNoSendCanStart(times);
  const shipmentIds = shipments.map(({ shipmentId }) => shipmentId);
  for (let time = 1; time <= maxTimes; time += 1) {
    const left = await db.transaction(async (tx) => {
      await cancelOnce(tx, shipments, times.leaseMs);
      return isErasedOwed(tx, shipmentIds);
    });
    if (!left) return;
    await sleep(againAfterMs);
  }
  throw unavailable('What is owed of this shipment is being changed too often.');
}
