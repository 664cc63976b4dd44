import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { registerWebhook, type Account } from '../../../support/client.js';
import type { PostgresEngine } from '../world/engines.js';

/** Many attempts, and many deleted webhooks; `remove` deletes them. */
export async function largeLog(
  { sql }: PostgresEngine,
  account: Account,
  attempts: number,
  deletedWebhooks: number,
): Promise<{ deliveryId: string; remove(): Promise<void> }> {
  const { webhookId } = await registerWebhook(account, 'http://127.0.0.1:9/');
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  await sql(
    `insert into webhooks (webhook_id, shipper_id, interests, target_address, status, ordering, supersede, headers,
                           description, secret, created_at, updated_at, deleted_at)
     select gen_random_uuid(), shipper_id, interests, target_address, status, ordering, supersede, headers, description,
            secret, created_at, updated_at, deleted_at
       from webhooks, generate_series(1, $2) where webhook_id = $1`,
    [webhookId, deletedWebhooks],
  );
  const [row] = await sql<{ id: string }>(
    `with event as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       values (uuidv7(), $1, 1, 'CREATED', now(), '{"state":"CREATED"}') returning event_id
     )
     insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count, completed_at,
                             trigger, started_at, duration_ms, status_code)
     select $1, delivery_id(event_id, $2), event_id, $2, 'CREATED', 'SUCCEEDED', $3, now(), 'MANUAL', now(), 5, 200
       from event returning delivery_id as id`,
    [account.shipperId, webhookId, attempts + 1],
  );
  await sql(
    `insert into attempts (shipper_id, delivery_id, number, trigger, started_at, duration_ms, status_code, error_code,
                           response_body)
     select $1, $2, n, 'MANUAL', now(), 5, 500, 'HTTP_STATUS', repeat('no ', 30) from generate_series(1, $3) n`,
    [account.shipperId, row!.id, attempts],
  );
  const remove = async () => {
    for (const table of ['attempts', 'deliveries'])
      await sql(`delete from ${table} where shipper_id = $1`, [account.shipperId]);
  };
  return { deliveryId: row!.id, remove };
}

/** Runs them in their own process; `stop` resolves with the count of each response. */
export function startGreedy(url: string, { accountKey, token }: Account, deliveryId: string) {
  const child = fork(fileURLToPath(new URL('./greedy.ts', import.meta.url)), [], {
    execArgv: ['--import', 'tsx'],
    env: { PATH: process.env.PATH ?? '', TARGET: JSON.stringify({ url, accountKey, token, deliveryId }) },
  });
  return {
    stop: async (): Promise<string> => {
      const replied = once(child, 'message') as Promise<[Record<string, number>]>;
      child.send('stop');
      const [counts] = await replied;
      child.kill();
      return Object.entries(counts)
        .map(([status, count]) => `${count} × ${status}`)
        .join(', ');
    },
  };
}
