import { SingleBar } from 'cli-progress';
import type { Writable } from 'node:stream';

export interface Progress {
  update(readBytes: number, counts: object): void;
  /** Makes room for a line of text; the bar comes back below it. */
  clear(): void;
  stop(): void;
}

const none: Progress = { update: () => {}, clear: () => {}, stop: () => {} };

/** A bar of bytes read, with counts. Nothing where the stream is not a terminal. Unknown size: counts only. */
export function startProgress(stream: Writable & { isTTY?: boolean }, sizeBytes: number | null): Progress {
  if (!stream.isTTY) return none;
  const counts = '{recorded} recorded, {refused} refused';
  const bar = new SingleBar({
    stream,
    format: sizeBytes === null ? counts : `{bar} {percentage} %  ${counts}  {eta_formatted} left`,
    forceRedraw: true,
    linewrap: true, // nothing to set back if an interrupt ends the program
    gracefulExit: false,
    clearOnComplete: true,
  });
  bar.start(sizeBytes ?? 1, 0, { recorded: 0, refused: 0 });
  return {
    update: (readBytes, payload) =>
      sizeBytes === null ? bar.update(payload) : bar.update(readBytes, payload),
    clear: () => void stream.write('\r\u001b[K'),
    stop: () => bar.stop(),
  };
}
