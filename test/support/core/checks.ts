import { expect } from '@jest/globals';
import { isProbed } from '../../../src/engine/outbox/sql.js';
import { inspect } from './acts.js';
import { outboxOf, type OwedRow, type World } from './world.js';

async function owedByShipment(world: World): Promise<OwedRow[][]> {
  const groups = new Map<string, OwedRow[]>();
  for (const row of await outboxOf(world)) {
    const key = `${row.webhook_id} ${row.shipment_id}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

/** All their owed states wait: only the sweeper can release them. */
const strandedShipments = async (world: World): Promise<OwedRow[][]> =>
  (await owedByShipment(world)).filter((rows) =>
    rows.every((row) => row.waits_turn && row.status !== 'SENDING'),
  );

export async function expectNoneStranded(world: World): Promise<void> {
  const stranded = await strandedShipments(world);
  expect(stranded.map((rows) => rows.map((row) => `${row.sequence} ${row.status}`))).toEqual([]);
}

export async function expectSweeperFindsStranded(world: World): Promise<void> {
  const probed = await world.sql<{ webhook_id: string }>(
    `select webhook_id from webhooks where ${isProbed('webhooks')}`,
  );
  const mayBeCalled = new Set(probed.map((webhook) => webhook.webhook_id));
  const stranded = (await strandedShipments(world)).filter(([first]) => mayBeCalled.has(first!.webhook_id));
  const { stranded: found } = await inspect(world.db);
  const keys = new Set(found.map((turn) => `${turn.webhookId} ${turn.shipmentId}`));
  for (const [first] of stranded) expect(keys).toContain(`${first!.webhook_id} ${first!.shipment_id}`);
}

export const notOnce = ({ sql }: World, webhookIds: string[], shipmentIds: string[]) =>
  sql<{ sequence: number; webhook_id: string; copies: number }>(
    `select e.shipment_id, e.sequence, w as webhook_id, count(k.delivery_id)::int as copies
       from events e cross join unnest($1::uuid[]) w
       left join (select delivery_id, event_id, webhook_id from outbox
                   union all select delivery_id, event_id, webhook_id from deliveries) k
         on k.event_id = e.event_id and k.webhook_id = w
      where e.shipment_id = any($2::uuid[])
      group by e.event_id, w having count(k.delivery_id) <> 1`,
    [webhookIds, shipmentIds],
  );

export async function expectEachOnce(
  world: World,
  webhookIds: string[],
  shipmentIds: string[],
): Promise<void> {
  expect(await notOnce(world, webhookIds, shipmentIds)).toEqual([]);
}

export async function expectStillThere({ sql }: World, deliveryIds: string[]): Promise<void> {
  const wrong = await sql(
    `select i.id, count(k.delivery_id)::int as copies
       from unnest($1::uuid[]) as i (id)
       left join (select delivery_id from outbox union all select delivery_id from deliveries) k on k.delivery_id = i.id
      group by i.id having count(k.delivery_id) <> 1`,
    [deliveryIds],
  );
  expect(wrong).toEqual([]);
}

/** A waiting row is not due, one being sent has a lease. */
export async function expectSoundRows(world: World): Promise<void> {
  const unsound = await world.sql(
    `select * from outbox
      where waits_turn <> (due_at is null) or (status = 'SENDING') <> (lease_until is not null)
         or failure_count > attempt_count`,
  );
  expect(unsound).toEqual([]);
}

export async function expectOneAtATime(world: World): Promise<void> {
  const groups = (await owedByShipment(world)).filter(([first]) => first!.shipment_id !== null);
  const crowded = groups.filter((rows) => rows.filter((row) => !row.waits_turn).length > 1);
  expect(crowded.map((rows) => rows.map((row) => `${row.sequence} ${row.status} ${row.waits_turn}`))).toEqual(
    [],
  );
}
