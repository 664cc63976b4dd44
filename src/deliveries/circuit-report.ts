import { describeError } from '../platform/errors.js';
import { countOutcomes, type NoticeDependencies } from './notice.js';

const success = { attempts: 1, failures: 0, probe: 'SUCCEEDED', retryAfterMs: 0 } as const;

/**
 * A success outside the schedule shows that the receiver is back, as a probe's does: an open circuit closes, and the
 * days without one success are over. Never rejects.
 */
export async function reportSuccess(deps: NoticeDependencies, webhookId: string): Promise<void> {
  try {
    await countOutcomes(deps, new Map([[webhookId, success]]));
  } catch (error) {
    deps.logger.warn({ webhookId, error: describeError(error) }, 'success not counted');
  }
}
