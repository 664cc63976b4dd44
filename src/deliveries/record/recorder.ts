import { createBatcher } from '../../platform/batch.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Pool } from '../../platform/database/postgres.js';
import { createCircuitCounter } from '../circuit/counter.js';
import { countOutcomes, disableGone, type TransitionDependencies } from '../circuit/transitions.js';
import type { Due } from '../outbox/hand-over.js';
import type { Times } from '../times.js';
import type { SettlingResult } from '../outbox/settle.js';
import type { Claim } from '../outbox/types.js';
import type { AttemptOutcome } from '../send/request.js';
import { noteAttempt, noteSettlement } from './notes.js';
import { isGone, settlementOf } from './outcome.js';
import { retryAfterMs } from './retry-policy.js';
import { createSettling, type Outcome, type SettlingOptions } from './settling.js';
import { untilBack } from './until-back.js';

export interface RecorderOptions extends TransitionDependencies, SettlingOptions {
  db: Pool;
  metrics: Metrics;
  times: Times;
  retryScheduleMs: readonly number[];
  /** A retry of the webhook is due after this time. */
  retryAt(delayMs: number, due: Due): void;
  /** These webhooks answered 410, or their circuits are open: but for a probe they are not to be called. */
  onNotCallable(webhookIds: string[]): void;
  /** There is time to record outcomes together. */
  leisure(): boolean;
}

/** Records outcomes, and sees to what follows from them. */
export interface Recorder {
  /** Resolves when the outcome is recorded, or was refused as stale. Kept for a minute while PostgreSQL is away. */
  record(claim: Claim, storedAddress: string, outcome: AttemptOutcome): Promise<void>;
  /** From now on an outcome is kept for a few seconds only. */
  hurry(): void;
  /** Resolves when what was recorded so far has been counted for the circuits. */
  flushed(): Promise<void>;
}

/** What cannot be recorded that long after the process was told to stop is sent again when its lease has run out. */
const patienceAtStopMs = 5_000;

interface Item extends Outcome {
  /** Where it was sent. */
  storedAddress: string;
  /** How long the receiver asked a probe to leave it alone, else 0. */
  retryAfterMs: number;
}

export function createRecorder(options: RecorderOptions): Recorder {
  const { logger, metrics, times } = options;
  const counter = createCircuitCounter({
    logger,
    windowMs: times.circuit.windowMs,
    countOutcomes: async (outcomes) => options.onNotCallable(await countOutcomes(options, outcomes)),
  });

  const settling = createSettling(options);

  const batches = createBatcher<Item, boolean>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    lingerMs: () => (options.leisure() ? times.lingerMs : 0),
    onFlush: (items) => metrics.batchSize.observe({ batch: 'settlements' }, items),
    flush: async (items) => {
      await disableThoseGone(items);
      const results = await settling(items);
      for (const [index, item] of items.entries()) followUp(item, results[index]!);
      return results.map(({ kind }) => kind !== 'lost');
    },
  });

  /** First of all: from this commit on nothing more is claimed there, and what waits here is given back. */
  const disableThoseGone = async (items: Item[]) => {
    const gone = items.flatMap(({ claim: { webhookId }, storedAddress, settlement }) =>
      isGone(settlement) ? { webhookId, storedAddress } : [],
    );
    if (gone.length === 0) return;
    await disableGone(options, gone);
    options.onNotCallable(gone.map(({ webhookId }) => webhookId));
  };

  const followUp = ({ claim, settlement, retryAfterMs }: Item, result: SettlingResult) => {
    if (result.kind === 'lost') return;
    counter.note(claim, settlement.status === 'SUCCEEDED', retryAfterMs);
    const { webhookId } = claim;
    const dueFromMs = result.kind === 'settled' && result.dueAt ? result.dueAt.getTime() : null;
    if (settlement.delayMs !== null) options.retryAt(settlement.delayMs, { webhookId, dueFromMs });
  };

  let giveUpAt = Infinity;

  return {
    record: async (claim, storedAddress, outcome) => {
      const settlement = settlementOf(claim, outcome, options.retryScheduleMs);
      const askedMs = claim.isProbe ? retryAfterMs(outcome.retryAfter, new Date()) : 0;
      const item = { claim, storedAddress, settlement, retryAfterMs: askedMs };
      const accepted = await untilBack(
        () => batches.add(item),
        () => performance.now() < giveUpAt,
        times.patienceMs,
      );
      noteAttempt(options, claim, settlement, accepted);
      if (accepted) noteSettlement(metrics, claim, settlement);
      else metrics.lateResults.inc();
    },
    hurry: () => void (giveUpAt = performance.now() + patienceAtStopMs),
    flushed: counter.flushed,
  };
}
