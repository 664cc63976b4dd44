import type { Database } from '../../platform/database/postgres.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Durations } from '../durations.js';
import { recomputeTurns } from '../outbox/turns.js';
import { dueSinceUnknown, type Due } from '../outbox/types.js';
import { untilNoSendCanStart } from '../send/starts.js';

export interface ReorderDependencies {
  db: Database;
  logger: Logger;
  durations: Durations;
  orderHoldMs: number;
  notify(due: Due[]): void;
}

/**
 * Resolves when no attempt claimed under the old ordering can start any more. Turns are recomputed a second time then:
 * deliveries recorded meanwhile followed the old ordering.
 */
export async function reorderDeliveries(deps: ReorderDependencies, webhookId: string): Promise<void> {
  const recompute = () =>
    recomputeTurns(deps.db, webhookId, deps.orderHoldMs).catch((error: unknown) =>
      deps.logger.warn(
        { webhookId, error: describeError(error) },
        'turns not recomputed; the sweep releases those that are due',
      ),
    );
  await recompute();
  await untilNoSendCanStart(deps.durations);
  await recompute();
  deps.notify(dueSinceUnknown([webhookId]));
}
