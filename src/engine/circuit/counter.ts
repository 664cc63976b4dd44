import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Claim, Settlement } from '../outbox/types.js';
import { distinct, type Outcomes, type Result } from './circuit.js';

/** Attempts without a failure, by webhook. Times are those of performance.now(). */
type Quiet = Map<
  string,
  { storedAddress: string; count: number; lastAt: number; succeededAt: number | null }
>;

/** Counts in memory, so a healthy webhook costs no statement. */
export function createCircuitCounter(deps: {
  logger: Logger;
  /** How long a response counts against a failure. */
  windowMs: number;
  countOutcomes(outcomes: Map<string, Outcomes>): Promise<void>;
}) {
  /** They count once a failure follows within the window. */
  let quiet: Quiet = new Map();
  let quietBefore: Quiet = new Map();
  let quietSince = performance.now();
  let unreported = new Map<string, Outcomes>();
  let reporting: Promise<void> | null = null;

  const report = async (): Promise<void> => {
    while (unreported.size > 0) {
      const batch = unreported;
      unreported = new Map();
      await deps.countOutcomes(batch);
    }
  };

  const add = (webhookId: string, outcomes: Outcomes) => {
    const known = unreported.get(webhookId);
    const before = known?.storedAddress === outcomes.storedAddress ? known : undefined;
    unreported.set(webhookId, {
      storedAddress: outcomes.storedAddress,
      attempts: (before?.attempts ?? 0) + outcomes.attempts,
      failures: (before?.failures ?? 0) + outcomes.failures,
      failedDeliveries: distinct(before?.failedDeliveries ?? [], outcomes.failedDeliveries),
      succeededAgoMs: outcomes.succeededAgoMs ?? before?.succeededAgoMs ?? null,
      probe: outcomes.probe ?? before?.probe ?? null,
      retryAfterMs: Math.max(outcomes.retryAfterMs, before?.retryAfterMs ?? 0),
      lastFailure: outcomes.lastFailure ?? before?.lastFailure ?? null,
    });
    startReporting();
  };

  const startReporting = () => {
    reporting ??= report()
      .catch((error: unknown) =>
        deps.logger.warn({ error: describeError(error) }, 'outcomes not counted for circuits'),
      )
      .finally(() => {
        reporting = null;
        if (unreported.size > 0) startReporting(); // added while the last report ended
      });
  };

  const dropOld = () => {
    const elapsedMs = performance.now() - quietSince;
    if (elapsedMs <= deps.windowMs) return;
    quietBefore = elapsedMs <= 2 * deps.windowMs ? quiet : new Map<string, never>();
    quiet = new Map();
    quietSince = performance.now();
  };

  const keepQuiet = (webhookId: string, storedAddress: string, succeeded: boolean) => {
    const now = performance.now();
    const known = quiet.get(webhookId);
    if (known?.storedAddress === storedAddress) {
      known.count += 1;
      known.lastAt = now;
      if (succeeded) known.succeededAt = now;
    } else
      quiet.set(webhookId, { storedAddress, count: 1, lastAt: now, succeededAt: succeeded ? now : null });
  };

  /** Takes them out, so that they are counted with the failure, and only once. */
  const takeQuiet = (
    webhookId: string,
    storedAddress: string,
  ): { count: number; succeededAgoMs: number | null } => {
    const now = performance.now();
    const those = [quietBefore, quiet].flatMap((attempts) => attempts.get(webhookId) ?? []);
    quiet.delete(webhookId);
    quietBefore.delete(webhookId);
    const recent = those.filter(
      (one) => one.storedAddress === storedAddress && now - one.lastAt <= deps.windowMs,
    );
    const succeededAt = recent.findLast((one) => one.succeededAt !== null)?.succeededAt ?? null;
    return {
      count: recent.reduce((sum, { count }) => sum + count, 0),
      succeededAgoMs: succeededAt === null ? null : now - succeededAt,
    };
  };

  return {
    /** `retryAfterMs`: a probe's Retry-After, 0 if none. */
    note: (
      { webhookId, deliveryId, troubled, isProbe }: Claim,
      storedAddress: string,
      result: Result,
      retryAfterMs: number,
      response: Pick<Settlement, 'statusCode' | 'errorCode'>,
    ): void => {
      dropOld();
      const succeeded = result === 'SUCCEEDED';
      const failed = result === 'FAILED';
      if (!failed && !troubled) return keepQuiet(webhookId, storedAddress, succeeded);
      const earlier = takeQuiet(webhookId, storedAddress);
      add(webhookId, {
        storedAddress,
        attempts: earlier.count + 1,
        failures: failed ? 1 : 0,
        failedDeliveries: failed ? [deliveryId] : [],
        succeededAgoMs: succeeded ? 0 : earlier.succeededAgoMs,
        probe: isProbe ? result : null,
        retryAfterMs,
        lastFailure: failed ? failureOf(response) : null,
      });
    },
    flushed: async () => {
      while (reporting) await reporting;
    },
  };
}

const failureOf = ({ statusCode, errorCode }: Pick<Settlement, 'statusCode' | 'errorCode'>) =>
  errorCode === 'HTTP_STATUS' ? String(statusCode) : errorCode;
