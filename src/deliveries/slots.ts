/** A bound on attempts in flight. */
export interface Slots {
  /** Takes as many slots as are free, up to `atMost`, and resolves with their number as soon as that is a few. */
  take(atMost: number): Promise<number>;
  give(count: number): void;
  inUse(): number;
  /** Resolves when nothing is in use. */
  idle(): Promise<void>;
}

/**
 * First come, first served. Nobody waits for all he asked for, or slots would lie idle behind slow receivers; a
 * tenth of all is worth starting, so that claims still come in batches.
 */
export function createSlots(size: number): Slots {
  const queue: { atMost: number; resolve(taken: number): void }[] = [];
  const idleWaiters: (() => void)[] = [];
  const worthwhile = Math.ceil(size / 10);
  let free = size;

  const pump = () => {
    for (let next = queue[0]; next && free >= Math.min(next.atMost, worthwhile); next = queue[0]) {
      queue.shift();
      const taken = Math.min(next.atMost, free);
      free -= taken;
      next.resolve(taken);
    }
    if (free === size) for (const resolve of idleWaiters.splice(0)) resolve();
  };

  return {
    take: (atMost) =>
      new Promise((resolve) => {
        queue.push({ atMost, resolve });
        pump();
      }),
    give: (count) => {
      free += count;
      pump();
    },
    inUse: () => size - free,
    idle: () => new Promise((resolve) => (free === size ? resolve() : idleWaiters.push(resolve))),
  };
}
