import { randomBytes } from 'node:crypto';
import { makeFirstPartitions } from '../../../src/history/retention/retention.js';
import { newId } from '../../../src/platform/ids.js';
import { createLogger } from '../../../src/platform/telemetry/logger.js';
import { createPool, type Database, type Pool } from '../../../src/platform/database/postgres.js';
import { updateWebhook } from '../../../src/webhooks/store.js';
import { createDatabase, dropDatabase, templateDatabase } from '../database.js';
import { installGates } from './barriers.js';

export const logger = createLogger('silent');

/** A private database, read and changed by the real store functions over several connections. */
export interface World {
  db: Pool;
  databaseUrl: string;
  shipperId: string;
  sql<Row = Record<string, any>>(text: string, values?: unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
}

export interface WebhookOptions {
  ordering?: 'SHIPMENT' | 'NONE';
  supersede?: boolean;
  interests?: string[];
}

export const openPool = (connectionString: string, maxConnections: number): Pool =>
  createPool({
    connectionString,
    applicationName: 'test',
    maxConnections,
    durable: false,
    statementTimeoutMs: 20_000,
    logger,
  });

export async function createWorld(): Promise<World> {
  const server = process.env.TEST_DATABASE_URL ?? '';
  const name = `t_${randomBytes(6).toString('hex')}`;
  const databaseUrl = await createDatabase(server, name, templateDatabase);
  const db = openPool(databaseUrl, 8);
  await makeFirstPartitions(db);
  await installGates(db);
  return {
    db,
    databaseUrl,
    shipperId: await addShipper(db),
    sql: (text, values) => db.query('', text, values),
    stop: async () => {
      await db.end();
      await dropDatabase(server, name);
    },
  };
}

export const forNewShipper = async (world: World): Promise<World> => ({
  ...world,
  shipperId: await addShipper(world.db),
});

async function addShipper(db: Database): Promise<string> {
  const shipperId = newId();
  const insert = `insert into shippers (shipper_id, name, account_key_hash) values ($1, 'S', $2)`;
  await db.query('', insert, [shipperId, randomBytes(8)]);
  return shipperId;
}

export async function addWebhook({ db, shipperId }: World, options: WebhookOptions = {}): Promise<string> {
  const webhookId = newId();
  await db.query(
    '',
    `insert into webhooks (webhook_id, shipper_id, interests, target_address, status, ordering, supersede, headers,
                           description, secret, created_at, updated_at)
     values ($1, $2, $3, 'http://receiver.test/', 'ACTIVE', $4, $5, '{}', '', '', now(), now())`,
    [
      webhookId,
      shipperId,
      options.interests ?? ['*'],
      options.ordering ?? 'SHIPMENT',
      options.supersede ?? false,
    ],
  );
  return webhookId;
}

export async function addShipments({ db, shipperId }: World, count: number): Promise<string[]> {
  const shipmentIds = Array.from({ length: count }, () => newId());
  await db.query(
    '',
    `insert into shipments (shipment_id, shipper_id, process_id, tracking_id, shipper_tracking_id, order_data,
                            dropoff_location, accepted_at)
     select shipment_id, $1, shipment_id, gen_random_uuid()::text, 'R', '{}', '{}', now()
       from unnest($2::uuid[]) as shipment_id`,
    [shipperId, shipmentIds],
  );
  return shipmentIds;
}

export const addShipment = async (world: World): Promise<string> => (await addShipments(world, 1))[0]!;

export const setStatus = ({ db, shipperId }: World, webhookId: string, status: 'ACTIVE' | 'PAUSED') =>
  updateWebhook(db, shipperId, webhookId, { status });

/** `until` is SQL. */
export const openCircuit = ({ sql }: World, webhookId: string, until = 'now()') =>
  sql(
    `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, open_until)
     values ($1, now(), 10, 10, now(), ${until})`,
    [webhookId],
  );

export interface OwedRow {
  delivery_id: string;
  webhook_id: string;
  shipment_id: string | null;
  sequence: number;
  status: 'READY' | 'SENDING' | 'RETRY';
  waits_turn: boolean;
  due_at: Date | null;
  lease_until: Date | null;
  attempt_count: number;
  failure_count: number;
  trigger: string;
}

/** The earlier states of a shipment first. */
export const outboxOf = ({ sql }: World, webhookId?: string): Promise<OwedRow[]> =>
  sql<OwedRow>(
    `select * from outbox where webhook_id = coalesce($1, webhook_id) order by webhook_id, shipment_id, sequence`,
    [webhookId ?? null],
  );

export interface LoggedRow {
  delivery_id: string;
  webhook_id: string;
  sequence: number;
  shipment_id: string | null;
  state: string;
  status: 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
  reason: string | null;
  attempt_count: number;
  trigger: string | null;
  completed_at: Date;
}

export const logOf = ({ sql }: World, webhookId?: string): Promise<LoggedRow[]> =>
  sql<LoggedRow>(
    `select d.*, e.sequence, e.shipment_id from deliveries d join events e using (event_id)
      where ${webhookId ? 'd.webhook_id = $1' : '$1::uuid is null'} order by d.webhook_id, e.shipment_id, e.sequence`,
    [webhookId ?? null],
  );

/** The deliveries by sequence number: `2 RETRY`, `3 waits`, `1 SUCCEEDED`. */
export async function picture(world: World, webhookId: string): Promise<string[]> {
  const owed = await outboxOf(world, webhookId);
  const logged = await logOf(world, webhookId);
  return [
    ...owed.map((row) => `${row.sequence} ${row.waits_turn ? 'waits' : row.status}`),
    ...logged.map((row) => `${row.sequence} ${row.reason ?? row.status}`),
  ].sort();
}
