import { setTimeout as sleep } from 'node:timers/promises';
import { startBackground } from './background.js';
import { describeError } from '../platform/errors.js';
import { queueNames, type Dispatch, rehearseCreation, type Engine, type Sealer } from '../engine/engine.js';
import type { Resources } from './resources.js';
import { createInProcess, createShipments, creationQueueName } from '../shipments/create.js';
import { newId } from '../platform/ids.js';
import type { Pool } from '../platform/database/postgres.js';
import { insertOrders } from '../shipments/store.js';
import type { Order } from '../shipments/order.js';

export type WorkerRole = ReturnType<typeof startWorker>;

const creationConcurrency = 4;
const deliveryConcurrency = 8;
const flowMaxAgeMs = 30_000;
/** Less than a health check may take. */
const firstJobsMs = 1_000;

/** Creation, fan-out, delivery and sweeping. */
export function startWorker(resources: Resources, dispatch: Dispatch) {
  const { config, workerDb: db, logger, metrics, engine, queue, producers } = resources;
  const creation = { ...engine.recording(db), initialState: resources.catalogue.initial, logger };
  const startedAt = Date.now();
  const lastJobAt = new Map<string, number>();
  let firstJobsCame!: () => void;
  const firstJobs = new Promise<void>((resolve) => (firstJobsCame = resolve));
  metrics.onScrape(() => {
    for (const name of producers.keys())
      metrics.canaryAge.set({ queue: name }, (Date.now() - (lastJobAt.get(name) ?? startedAt)) / 1_000);
  });

  const consume = (
    name: string,
    concurrency: number,
    handle: (job: { name: string; ids: string[] }) => Promise<unknown>,
  ) =>
    queue.consume(name, concurrency, async (job) => {
      lastJobAt.set(name, Date.now());
      if (lastJobAt.size === producers.size) firstJobsCame();
      if (job.name !== 'canary') await handle(job);
    });
  const consumers = [
    consume(creationQueueName, creationConcurrency, (job) => createShipments(creation, job.ids)),
    ...queueNames(config.DELIVERY_SHARDS).map((name) => consume(name, deliveryConcurrency, dispatch.take)),
  ];

  let rehearsedAt = -Infinity;
  let rehearsing: Promise<void> | undefined;

  const background = startBackground({ resources, dispatch, creation });

  let draining: Promise<void> | undefined;
  const drain = async () => {
    const drained = dispatch.drain();
    await Promise.all([background.stop(), ...consumers.map((consumer) => consumer.close())]);
    await drained;
    await dispatch.drain(); // claimed meanwhile by a task or a job
  };

  return {
    /** Resolves when that is done or left to the sweep. */
    create: createInProcess(creation),
    simulate: () => background.wake('simulations'),
    /**
     * Rejects unless a job, canaries included, arrived from every queue in the last 30 s. At the start it waits for the
     * first ones for a second, so that a worker is not ready before jobs flow, and does not complain of it at once.
     */
    checkFlow: async () => {
      await Promise.race([firstJobs, sleep(firstJobsMs, undefined, { ref: false })]);
      const stale = [...producers.keys()].filter(
        (name) => Date.now() - (lastJobAt.get(name) ?? 0) > flowMaxAgeMs,
      );
      if (stale.length === 0) return;
      const since = stale.some((name) => lastJobAt.has(name)) ? 'in the last 30 s' : 'since the start';
      const reason = consumers.map((consumer) => consumer.lastError()).find(Boolean);
      const because = reason ? `: ${describeError(reason)}` : '';
      throw new Error(`no job, not even a canary, arrived from ${stale.join(', ')} ${since}${because}`);
    },
    /** Rejects unless an attempt was made in the last 30 s, or an order was seen to become one without being sent. */
    checkOrders: async () => {
      const provedAt = Math.max(rehearsedAt, dispatch.figures.lastEndAtMs());
      if (performance.now() - provedAt < flowMaxAgeMs) return;
      rehearsing ??= rehearse({ ...resources, db, initialState: resources.catalogue.initial })
        .then(() => void (rehearsedAt = performance.now()))
        .finally(() => (rehearsing = undefined));
      await rehearsing;
    },
    /** Begins no new work; resolves when the current attempts are recorded. */
    drain: () => (draining ??= drain()),
  };
}

interface RehearsalDependencies {
  db: Pool;
  engine: Pick<Engine, 'recording'>;
  sealer: Sealer;
  initialState: string;
}

/** A new shipper with one webhook: nobody else's statements meet their rows. */
const insertShipper = `
  with shipper as (
    insert into shippers (shipper_id, name, account_key_hash) values ($1, 'Rehearsal', sha256($1::uuid::text::bytea))
    returning shipper_id
  )
  insert into webhooks (webhook_id, shipper_id, interests, target_address, status, ordering, supersede, headers,
                        description, secret, created_at, updated_at)
  select $2, shipper_id, array['*'], 'https://webhook.invalid/', 'ACTIVE', 'SHIPMENT', false, '{}', '', $3, now(), now()
    from shipper`;

/**
 * Takes an order from its acceptance to the claim of an attempt, by the statements of every order, and rolls all of it
 * back. Rejects if no attempt would be made.
 */
async function rehearse({ db, engine, sealer, initialState }: RehearsalDependencies): Promise<void> {
  const [shipperId, webhookId, shipmentId] = [newId(), newId(), newId()];
  const acceptedAt = new Date();
  const recording = engine.recording(db);
  const trace = recording.tracing.start('record', { parent: null }).context;
  const trackingId = `rehearsal-${shipmentId}`;
  const order = { shipperTrackingId: trackingId } as Order;
  const head = { shipmentId, shipperId, trackingId, shipperTrackingId: trackingId, acceptedAt, trace };
  const rolledBack = new Error('rolled back');
  await db
    .transaction(async (tx) => {
      await tx.query('rehearse-shipper', insertShipper, [
        shipperId,
        webhookId,
        sealer.sealSecret(webhookId, 'none'),
      ]);
      const dropoffLocation = {} as never;
      const accepted = {
        ...head,
        processId: newId(),
        order,
        orderText: JSON.stringify(order),
        dropoffLocation,
      };
      await insertOrders(tx, [{ ...accepted, idempotency: null }]);
      const created = { ...head, state: null, sequence: 0, erased: false };
      const claims = await rehearseCreation(recording, tx, created, initialState);
      const isWhole = claims.length === 1 && claims.every(({ dueAt }) => Number.isFinite(dueAt.getTime()));
      throw isWhole ? rolledBack : new Error('nothing was claimed');
    })
    .catch((error: unknown) => {
      if (error !== rolledBack)
        throw new Error(`an order would not become an attempt: ${describeError(error)}`, { cause: error });
    });
}
