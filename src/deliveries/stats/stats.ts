import { isoOffset } from '../../http/envelope.js';
import type { Database } from '../../platform/database/postgres.js';
import { deleteOldHours, readHours } from './store.js';

export const defaultHours = 24;
export const maxHours = 720;

const hourMs = 3_600_000;
const hoursPerStatement = 5_000;

/** `stats` of webhooks as the API shows them (contract, section 4), by their ids. */
export async function webhookStats(
  db: Database,
  webhookIds: string[],
  hours: number,
): Promise<Map<string, { hours: object[] }>> {
  const stats = new Map(webhookIds.map((webhookId) => [webhookId, { hours: [] as object[] }]));
  for (const { webhookId, hour, succeeded, failed, p50Ms, p95Ms } of await readHours(db, webhookIds, hours))
    stats.get(webhookId)!.hours.push({
      hour: isoOffset(hour),
      attempts: succeeded + failed,
      succeeded,
      failed,
      p50Ms,
      p95Ms,
    });
  return stats;
}

/** Drops the hours that are older than the log, but none that the API may show. */
export async function dropOldHours(db: Database, retentionMs: number): Promise<void> {
  const keptMs = Math.max(retentionMs, maxHours * hourMs);
  while ((await deleteOldHours(db, keptMs, hoursPerStatement)) === hoursPerStatement);
}
