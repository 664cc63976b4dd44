import { isoOffset } from '../../http/envelope.js';
import type { Database } from '../../platform/database/postgres.js';
import { readHours } from './store.js';

export const defaultHours = 24;
export const mostHours = 720;

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
