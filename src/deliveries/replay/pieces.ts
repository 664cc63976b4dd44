import { isOfThePiece, type Database } from '../../platform/database/postgres.js';
import type { WithdrawDependencies } from './cancel.js';

export interface ReplayDependencies extends WithdrawDependencies {
  retentionMs: number;
  /** How often rows are made for a webhook; one that is not called is checked a quarter as often. */
  replayEveryMs: number;
  /** States that are never superseded. */
  terminalStates: string[];
  /** The position before which later statements of the transaction see all events. */
  horizon(tx: Database): Promise<bigint>;
}

export const deliveriesPerPiece = 1_000;
export const eventsPerPiece = 5_000;
export const piecesPerRun = 20;
export const troubledPauseMs = 2_000;
export const setbacksToOne = Math.ceil(Math.log2(eventsPerPiece));
/** Pieces of one event that fail in a row, before that event is skipped. */
const triesOfOne = 3;

/** How many events a piece looks at after so many setbacks. */
export const eventsAfter = (setbacks: number) => Math.max(1, Math.floor(eventsPerPiece / 2 ** setbacks));

/** What a failure asks for: the same piece again, one half as large, or one without its first event. */
export function afterFailureOf(error: unknown, setbacks: number): 'again' | 'smaller' | 'skip' {
  if (!isOfThePiece(error)) return 'again';
  return setbacks + 1 < setbacksToOne + triesOfOne ? 'smaller' : 'skip';
}
