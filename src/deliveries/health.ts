import { isoOffset } from '../http/envelope.js';
import type { Database } from '../platform/postgres.js';
import { readHealthFigures } from './health-store.js';

/** `health` of a webhook as the API shows it (contract, section 4). */
export async function webhookHealth(db: Database, webhookId: string): Promise<object> {
  const { circuitOpen, lastSuccessAt, failureRate, pendingCount } = await readHealthFigures(db, webhookId);
  return {
    circuit: circuitOpen ? 'OPEN' : 'CLOSED',
    lastSuccessAt: isoOffset(lastSuccessAt),
    failureRate,
    pendingCount,
  };
}
