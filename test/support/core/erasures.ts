import { durationsOf } from '../../../src/platform/durations.js';
import { settle } from '../../../src/engine/outbox/claim.js';
import type { Claim } from '../../../src/engine/outbox/types.js';
import { recordEvents } from '../../../src/engine/record/record.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { newId } from '../../../src/platform/ids.js';
import { eraseShipments } from '../../../src/shipments/erasure.js';
import { insertOrders } from '../../../src/shipments/store.js';
import { defaultDropoffLocations } from '../../../src/shipments/dropoff.js';
import type { Order } from '../../../src/shipments/order.js';
import { sampleOrder } from '../client.js';
import { collector, longHoldMs, muchRoom, recording, settlementOf } from './acts.js';
import type { World } from './world.js';

export const planted = {
  fullName: 'Planted Name',
  phone: '98989898989898',
  street: 'Planted Street',
  evidence: 'https://photos.test/planted-door',
  place: '48.85837',
  response: 'planted-response',
};
export const plantedWords = Object.values(planted);

const operator = { kind: 'OPERATOR', name: 'operator', address: null } as const;

export const erasing = (db: Database) => ({
  db,
  durations: { ...durationsOf(), maxStartMs: 20, startMarginMs: 0 },
  metrics: createMetrics(),
});

export const erase = (db: Database, shipmentId: string) =>
  eraseShipments(erasing(db), [shipmentId], operator);

export async function addPlantedOrder(
  { db, shipperId }: Pick<World, 'db' | 'shipperId'>,
  shipmentId = newId(),
  isFlushed = true,
): Promise<string> {
  const sample = sampleOrder();
  const order = {
    ...sample,
    recipientLocation: { ...sample.recipientLocation, street: planted.street },
    recipientInformation: { fullName: planted.fullName, phone: planted.phone },
  } as Order;
  const accepted = {
    shipmentId,
    shipperId,
    processId: newId(),
    trackingId: `PH${shipmentId.replaceAll('-', '').toUpperCase()}`,
    order,
    orderText: JSON.stringify(order),
    dropoffLocation: defaultDropoffLocations[0]!,
    acceptedAt: new Date(),
    idempotency: { key: shipmentId, bodyHash: Buffer.from('hash') },
    trace: Buffer.alloc(24),
  };
  await insertOrders(db, [accepted], isFlushed);
  return shipmentId;
}

/** Claimed as far as there is room. */
export async function recordPlanted(
  db: Database,
  shipmentId: string,
  states: string[],
  room = muchRoom,
): Promise<Claim[]> {
  const collected = collector(room);
  const results = await recordEvents(
    recording(db, collected, longHoldMs),
    states.map((state) => ({
      shipmentId,
      state,
      evidences: [planted.evidence],
      anomalies: { seenBy: planted.fullName },
      lat: Number(planted.place),
      lng: 2,
    })),
  );
  for (const result of results) if (result instanceof Error) throw result;
  return collected.claims;
}

export const settlePlanted = (db: Database, claims: Claim[], status: 'SUCCEEDED' | 'FAILED' | 'RETRY') =>
  settle(
    db,
    claims.map((claim) => ({
      ...settlementOf(claim, status),
      responseBody: claim.erased ? null : planted.response,
      detail: claim.erased ? null : planted.response,
    })),
  );
