import { isFaultOfPiece, type Database } from '../../platform/database/postgres.js';
import type { WithdrawDependencies } from './cancel-replay.js';

export interface ReplayDependencies extends WithdrawDependencies {
  retentionMs: number;
  /** A webhook that is not called is checked a quarter as often. */
  replayEveryMs: number;
  terminalStates: string[];
  /** Later statements of the transaction see all events before it. */
  horizon(tx: Database): Promise<bigint>;
}

export const deliveriesPerPiece = 1_000;
export const eventsPerPiece = 5_000;
export const piecesPerRun = 20;
export const retryPauseMs = 2_000;
export const setbacksToSingleEvent = Math.ceil(Math.log2(eventsPerPiece));
const triesOfSingleEvent = 3;

export const pieceSizeAfter = (setbacks: number) => Math.max(1, Math.floor(eventsPerPiece / 2 ** setbacks));

/** The next piece is the same one again, one half as large, or one without its first event. */
export function nextPieceAfter(error: unknown, setbacks: number): 'again' | 'smaller' | 'skip' {
  if (!isFaultOfPiece(error)) return 'again';
  return setbacks + 1 < setbacksToSingleEvent + triesOfSingleEvent ? 'smaller' : 'skip';
}
