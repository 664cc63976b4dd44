import { setTimeout as sleep } from 'node:timers/promises';

/** Node would take a longer one for 1 ms. */
export const longestTimerMs = 2 ** 31 - 1;

/** Rejects with the signal's reason when it is aborted. */
export async function pause(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(Math.min(waitMs, longestTimerMs), undefined, { ...(signal && { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

export interface WaitLimits {
  waitMs: number;
  /** What it rejects with after that. */
  late: () => Error;
  signal: AbortSignal | undefined;
}

/** The promise, for a caller who may stop waiting for it. */
export async function within<T>(promise: Promise<T>, { waitMs, late, signal }: WaitLimits): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), Math.min(waitMs, longestTimerMs));
    onAbort = () => reject(signal!.reason as Error);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
