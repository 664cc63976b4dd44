/** Replays told in sentences. */

import { countText } from '../../units.js';

const nothingQueued: Record<string, string> = {
  NOTHING_RECORDED: 'Nothing was recorded in that time.',
  NO_INTEREST: 'Nothing that this webhook is interested in was recorded in that time.',
  ALL_SUCCEEDED: 'There is nothing to send: everything from that time has succeeded or is on its way.',
  EXPIRED: 'That time is no longer in the log.',
  ERASED:
    'There is nothing to send: what is left from that time was erased. The counts on this page may still include it.',
  PARKED:
    'There is nothing to send: what is left of it is sent automatically once the webhook is called again.',
};

/** The words about a replay that was asked for: `queued` is null while the deliveries are not counted yet. */
export function replayAnswer({ queued, reason }: { queued: number | null; reason: string | null }): string {
  if (queued === null) return 'It has begun, and counts its deliveries as it goes.';
  if (queued > 0) return `It will send ${countText(queued, 'delivery', 'deliveries')}.`;
  return nothingQueued[reason ?? ''] ?? 'There is nothing to send.';
}

export function replaySentence({
  status,
  done,
  total,
}: {
  status: string;
  done: number;
  total: number | null;
}): string {
  if (total === 0) return 'There was nothing to send.';
  const settled =
    total === null
      ? `${done.toLocaleString('en')} settled so far`
      : `${done.toLocaleString('en')} of ${countText(total, 'delivery', 'deliveries')} settled`;
  if (status === 'CANCELLED') return `It was cancelled: ${settled}.`;
  return `${settled}.`;
}
