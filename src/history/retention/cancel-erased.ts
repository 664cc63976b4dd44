import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import {
  cancelErased,
  erasedEvents,
  isDeliveryOf,
  lockMoves,
  owedOf,
  sameDelivery,
  untilNoSendCanStart,
} from '../../engine/engine.js';
import type { Durations } from '../../platform/durations.js';

export interface ErasedShipment {
  shipmentId: string;
  shipperId: string;
}

const retryPauseMs = 50;
const maxTries = 40;

/**
 * Covers erasures of earlier transactions, too. Waits for the shippers' replays, which may have read the events; skips
 * locked rows.
 */
async function cancelErasedOnce(tx: Database, shipments: ErasedShipment[], leaseMs: number): Promise<void> {
  const shipmentIds = shipments.map(({ shipmentId }) => shipmentId);
  const replaying = await findReplayingWebhooks(tx, [
    ...new Set(shipments.map(({ shipperId }) => shipperId)),
  ]);
  if (replaying.length > 0) await lockMoves(tx, replaying);
  const byHand = await cancelRedeliveries(tx, shipmentIds);
  await cancelErased(tx, shipmentIds, { leaseMs, byHand });
  await eraseResponses(tx, shipmentIds);
}

/**
 * Resolves when no delivery of the erased events is sent or owed any more and no response is stored. Call it after the
 * commits that erased them. Owed deliveries are cancelled first, so that none is sent meanwhile. An attempt claimed
 * before that commit starts within the wait or never does; a claim that is left afterwards is taken away before its
 * response can be recorded.
 */
export async function cancelErasedUntilDone(
  { db, durations }: { db: Database; durations: Durations },
  shipments: ErasedShipment[],
): Promise<void> {
  await db.transaction((tx) => cancelErasedOnce(tx, shipments, durations.leaseMs));
  await untilNoSendCanStart(durations);
  const shipmentIds = shipments.map(({ shipmentId }) => shipmentId);
  for (let count = 1; count <= maxTries; count += 1) {
    const left = await db.transaction(async (tx) => {
      await cancelErasedOnce(tx, shipments, durations.leaseMs);
      return isErasedOwed(tx, shipmentIds);
    });
    if (!left) return;
    await sleep(retryPauseMs);
  }
  throw unavailable('The deliveries of this shipment are being changed too often.');
}

const logged = `select d.shipper_id, d.delivery_id from deliveries d where ${isDeliveryOf('d', 'e')}`;
const known = `select k.* from ${erasedEvents} cross join lateral (${owedOf('e')} union all ${logged}) k`;

const hasResponse = (row: string) => `(${row}.response_body is not null or ${row}.detail is not null)`;

async function findReplayingWebhooks(db: Database, shipperIds: string[]): Promise<string[]> {
  const rows = await db.query<{ webhook_id: string }>(
    'find-replaying-webhooks',
    `select distinct webhook_id from replays
      where (status = 'RUNNING' or withdrawing) and shipper_id = any($1::uuid[])`,
    [shipperIds],
  );
  return rows.map((row) => row.webhook_id);
}

/** Refuses results of attempts under way, and returns their deliveries. Skips locked rows. */
async function cancelRedeliveries(db: Database, shipmentIds: string[]): Promise<string[]> {
  const rows = await db.query<{ delivery_id: string; number: number | null }>(
    'cancel-redeliveries',
    `with cancelled as materialized (
       select r.delivery_id from (${known}) k
        cross join lateral (
          select delivery_id from redeliveries where delivery_id = k.delivery_id limit 1 for update skip locked) r
     )
     delete from redeliveries r using cancelled c where r.delivery_id = any(array[c.delivery_id])
     returning r.delivery_id, r.number`,
    [shipmentIds],
  );
  return rows.flatMap((row) => (row.number === null ? [] : [row.delivery_id]));
}

/** The detail goes, too: it has the headers of the requests, with signatures of the bodies. */
async function eraseResponses(db: Database, shipmentIds: string[]): Promise<void> {
  await db.query(
    'erase-responses',
    `with known as materialized (
       select d.* from ${erasedEvents} cross join lateral (${logged}) d
     ), last as (
       update deliveries d set response_body = null, detail = null
         from known k where ${sameDelivery('d', 'k')} and ${hasResponse('d')}
     )
     update attempts a set response_body = null, detail = null
       from known k where a.delivery_id = any(array[k.delivery_id]) and ${hasResponse('a')}`,
    [shipmentIds],
  );
}

async function isErasedOwed(db: Database, shipmentIds: string[]): Promise<boolean> {
  const [row] = await db.query<{ owed: boolean }>(
    'is-erased-owed',
    `select exists (select 1 from ${erasedEvents} cross join lateral (${owedOf('e')} limit 1) o)
         or exists (select 1 from (${known}) k
                     where exists (select 1 from redeliveries r where r.delivery_id = k.delivery_id)) as owed`,
    [shipmentIds],
  );
  return row!.owed;
}
