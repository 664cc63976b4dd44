/** Separates the time that a key waits because it is at a bound of its own from the time that it waits for others. */
export interface HeldTime<Key = string> {
  note(key: Key): void;
  start(key: Key): HeldClock;
}

export interface HeldClock {
  heldMs(): number;
  stop(): void;
}

interface Total {
  clocks: number;
  heldMs: number;
  sinceMs: number | undefined;
}

export function createHeldTime<Key = string>(isHeld: (key: Key) => boolean): HeldTime<Key> {
  const totals = new Map<Key, Total>();
  const sinceOf = (key: Key) => (isHeld(key) ? performance.now() : undefined);
  const read = ({ heldMs, sinceMs }: Total) =>
    heldMs + (sinceMs === undefined ? 0 : performance.now() - sinceMs);

  return {
    note: (key) => {
      const total = totals.get(key);
      if (!total || isHeld(key) === (total.sinceMs !== undefined)) return;
      total.heldMs = read(total);
      total.sinceMs = sinceOf(key);
    },
    start: (key) => {
      const total = totals.get(key) ?? { clocks: 0, heldMs: 0, sinceMs: sinceOf(key) };
      totals.set(key, total);
      total.clocks += 1;
      const before = read(total);
      let ended: number | undefined;
      return {
        heldMs: () => ended ?? read(total) - before,
        stop: () => {
          if (ended !== undefined) return;
          ended = read(total) - before;
          total.clocks -= 1;
          if (total.clocks === 0) totals.delete(key);
        },
      };
    },
  };
}
