import { setTimeout as sleep } from 'node:timers/promises';
import { registerAccount, registerWebhook } from '../../../support/client.js';
import { inFlightOfProcess } from '../world/service.js';
import type { World } from '../world/world.js';
import type { Fault } from './fault.js';
import { notAccepted, takenUpWithin } from './figures.js';

const webhooks = 100;
const states = 300;
/** A lease of 10 s, and then the time a sweep may take. */
const lapsedWithinMs = 22_000;
const walkedWithinMs = 120_000;

/** 100 paused webhooks for first states, with supersede, shipments with 300 states since; and another shipper's. */
async function owe(
  { service, accounts, sql }: World,
  shipments: number,
  rows: number,
): Promise<() => Promise<void>> {
  const account = await registerAccount(service, 'paused@example.com');
  const nowhere = 'http://127.0.0.1:9/';
  const { webhookId: first } = await registerWebhook(account, nowhere, {
    interests: ['CREATED'],
    supersede: true,
  });
  const { webhookId: owed } = await registerWebhook(accounts[0]!, nowhere, { interests: ['NONE'] });
  const others = await sql<{ webhookId: string }>(
    `insert into webhooks (webhook_id, shipper_id, interests, target_address, status, ordering, supersede, headers,
                           description, secret, created_at, updated_at)
     select gen_random_uuid(), shipper_id, interests, target_address, status, ordering, supersede, headers, description,
            secret, created_at, updated_at
       from webhooks cross join generate_series(2, $2::int) where webhook_id = $1
     returning webhook_id as "webhookId"`,
    [first, webhooks],
  );
  const ids = [first, ...others.map(({ webhookId }) => webhookId)];
  await sql(`update webhooks set status = 'PAUSED' where webhook_id = any($1::uuid[])`, [[...ids, owed]]);
  await sql(
    `with w as (select webhook_id, shipper_id from webhooks where webhook_id = any($1::uuid[])),
          s as materialized (select gen_random_uuid() as shipment_id from generate_series(1, $2)),
          p as (
       insert into shipment_progress (shipment_id, shipper_id, state, sequence, updated_at)
       select shipment_id, (select shipper_id from w limit 1), 'IN_TRANSIT', $3, now() from s
     ), e as (
       insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
       select overlay(gen_random_uuid()::text placing left(uuid_floor(now())::text, 15) from 1 for 15)::uuid, (select shipper_id from w limit 1), shipment_id, n,
              case n when 1 then 'CREATED' else 'IN_TRANSIT' end, now(), ''
         from s cross join generate_series(1, $3) n
       returning event_id, shipper_id, shipment_id, sequence
     )
     insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at)
     select e.shipper_id, delivery_id(event_id, webhook_id), event_id, webhook_id, shipment_id, 1, 'CREATED', 'READY', now()
       from e cross join w where sequence = 1`,
    [ids, shipments, states],
  );
  await sql(
    `insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at)
     select (select shipper_id from webhooks where webhook_id = $1), gen_random_uuid(), gen_random_uuid(), $1,
            gen_random_uuid(), 1, 'CREATED', 'READY', now() from generate_series(1, $2::int)`,
    [owed, rows],
  );
  return async () =>
    void (await sql('delete from outbox where webhook_id = any($1::uuid[])', [[...ids, owed]]));
}

/** When any of the workers last reached the end of the outbox, in seconds since 1970. */
async function lastWalk({ service }: World): Promise<number> {
  const texts = await Promise.all(
    service.workers.map(({ url }) =>
      fetch(`${url}/metrics`).then(
        (response) => response.text(),
        () => '',
      ),
    ),
  );
  const walked = texts.flatMap(
    (text) => /^parcelhook_outbox_walked_timestamp_seconds (.+)$/m.exec(text)?.[1] ?? [],
  );
  return Math.max(0, ...walked.map(Number));
}

const slowPage: Fault = {
  name: 'B14',
  promise:
    '300,000 rows owed to one shipper, 100 paused webhooks of another with states long overtaken, kill -9 of a worker: its attempts repeated within 22 s; the walk reaches its end',
  workers: 2,
  inFlight: inFlightOfProcess,
  inject: async ({ world, times, pause, mark, note }) => {
    const remove = await owe(world, times(200), times(300_000));
    const owedSince = Date.now() / 1_000;
    await pause(20_000);
    await world.service.end(world.service.workers.shift()!, 'SIGKILL');
    mark();
    await world.service.startWorker();
    const startedAt = performance.now();
    // Two ends: the first walk may have begun before.
    let ends = 0;
    for (
      let last = owedSince;
      ends < 2 && performance.now() - startedAt < 2 * walkedWithinMs;
      await sleep(500)
    ) {
      const walked = await lastWalk(world);
      if (walked <= last) continue;
      ends += 1;
      last = walked;
    }
    const value = ends < 2 ? Infinity : performance.now() - startedAt;
    note({ name: 'whole outbox walked after', value, unit: 'ms', atMost: walkedWithinMs });
    await remove();
  },
  figures: (outcome) => [takenUpWithin(outcome, lapsedWithinMs), notAccepted(outcome)],
};

export const sweepFaults: Fault[] = [slowPage];
