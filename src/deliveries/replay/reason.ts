import type { Counted } from './request-store.js';

type NothingQueued = 'NOTHING_RECORDED' | 'NO_INTEREST' | 'ALL_SUCCEEDED' | 'EXPIRED';

/** Why a replay has nothing to send; null if it has, if that is not known yet, or if another status than asked for is owed. */
export function whyNothing(counted: Counted, range: { to: Date; keptSince: Date }): NothingQueued | null {
  if (counted.total !== 0) return null;
  if (range.to < range.keptSince) return 'EXPIRED';
  if (counted.wanted === 0 && counted.older) return 'EXPIRED';
  if (counted.recorded === 0) return 'NOTHING_RECORDED';
  if (counted.wanted === 0) return 'NO_INTEREST';
  if (counted.otherStatus > 0) return null;
  return counted.erased > 0 ? 'EXPIRED' : 'ALL_SUCCEEDED';
}
