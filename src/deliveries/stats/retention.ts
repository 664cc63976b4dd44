import type { Database } from '../../platform/database/postgres.js';
import { mostHours } from './stats.js';
import { deleteOldHours } from './store.js';

const hourMs = 3_600_000;
const hoursPerStatement = 5_000;

/** Drops the hours that are older than the log, but none that the API may show. */
export async function dropOldHours(db: Database, retentionMs: number): Promise<void> {
  const keptMs = Math.max(retentionMs, mostHours * hourMs);
  while ((await deleteOldHours(db, keptMs, hoursPerStatement)) === hoursPerStatement);
}
