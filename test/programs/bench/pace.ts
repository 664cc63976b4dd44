import { setTimeout as sleep } from 'node:timers/promises';
import { now } from './clock.js';

/** The lateness of timers on a machine with time to spare. */
const timerMs = 2;

/** Works from 0 to `count - 1`; each of `clients` starts the next when its last ends, none after `untilAt`. */
export async function closedLoop(
  count: number,
  clients: number,
  one: (n: number) => Promise<void>,
  untilAt = Infinity,
): Promise<void> {
  let next = 0;
  const client = async () => {
    while (next < count && now() < untilAt) await one(next++);
  };
  try {
    await Promise.all(Array.from({ length: clients }, client));
  } catch (error) {
    next = count; // stops the others
    throw error;
  }
}

/** `one` gets its start, or its due time if it starts later than timers explain, so that no wait is left out. */
export async function openLoop(
  perSecond: number,
  count: number,
  one: (n: number, fromAt: number) => Promise<void>,
): Promise<void> {
  const startedAt = now() + timerMs;
  const pending: Promise<void>[] = [];
  let failure: unknown;
  for (let n = 0; n < count && failure === undefined; n += 1) {
    const dueAt = startedAt + (n * 1_000) / perSecond;
    for (let waitMs = dueAt - now(); waitMs > 0; waitMs = dueAt - now()) await sleep(waitMs);
    const at = now();
    const fromAt = at - dueAt > timerMs ? dueAt : at;
    pending.push(one(n, fromAt).catch((error: unknown) => void (failure ??= error)));
  }
  await Promise.all(pending);
  if (failure !== undefined) throw failure instanceof Error ? failure : new Error('a request failed');
}
