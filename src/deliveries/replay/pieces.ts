import { isFaultOfPiece, type Database } from '../../platform/database/postgres.js';
import type { WithdrawDependencies } from './cancel-replay.js';

export interface ReplayDependencies extends WithdrawDependencies {
  retentionMs: number;
  /** How often a webhook gets another piece; one that is not called is checked a quarter as often. */
  replayEveryMs: number;
  /** States that are never superseded. */
  terminalStates: string[];
  /** The position before which later statements of the transaction see all events. */
  horizon(tx: Database): Promise<bigint>;
}

export const deliveriesPerPiece = 1_000;
export const eventsPerPiece = 5_000;
export const piecesPerRun = 20;
export const retryPauseMs = 2_000;
/** After so many setbacks a piece is a single event. */
export const setbacksToSingleEvent = Math.ceil(Math.log2(eventsPerPiece));
/** How often a single event may fail before it is skipped. */
const triesOfSingleEvent = 3;

/** How many events a piece reads after so many setbacks. */
export const pieceSizeAfter = (setbacks: number) => Math.max(1, Math.floor(eventsPerPiece / 2 ** setbacks));

/** The piece after a failed one: the same one again, one half as large, or one without its first event. */
export function nextPieceAfter(error: unknown, setbacks: number): 'again' | 'smaller' | 'skip' {
  if (!isFaultOfPiece(error)) return 'again';
  return setbacks + 1 < setbacksToSingleEvent + triesOfSingleEvent ? 'smaller' : 'skip';
}
