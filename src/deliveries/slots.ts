/** A bound on attempts in flight. */
export interface Slots {
  /** Resolves when `count` slots are free and taken. `count` must not exceed the size. */
  take(count: number): Promise<void>;
  give(count: number): void;
  inUse(): number;
  /** Resolves when nothing is in use. */
  idle(): Promise<void>;
}

/** First come, first served: a large request is not overtaken by small ones for ever. */
export function createSlots(size: number): Slots {
  const queue: { count: number; resolve(): void }[] = [];
  const idleWaiters: (() => void)[] = [];
  let free = size;

  const pump = () => {
    for (let next = queue[0]; next && next.count <= free; next = queue[0]) {
      queue.shift();
      free -= next.count;
      next.resolve();
    }
    if (free === size) for (const resolve of idleWaiters.splice(0)) resolve();
  };

  return {
    take: (count) =>
      new Promise((resolve) => {
        queue.push({ count, resolve });
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
