import type { Database } from '../../platform/database/postgres.js';

/**
 * One at a time of those that move a webhook's deliveries between log and outbox; to be taken in a statement before.
 */
export async function lockMoves(tx: Database, webhookIds: string[]): Promise<void> {
  await tx.query(
    'lock-moves',
    `select pg_advisory_xact_lock(hashtextextended('parcelhook-moves', 0) # hashtextextended(webhook_id, 0))
       from (select unnest($1::text[]) as webhook_id order by 1) w`,
    [webhookIds],
  );
}
