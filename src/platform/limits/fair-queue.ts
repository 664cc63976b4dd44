/**
 * Items wait under keys, and keys are served in rotation, however many items one key has. Within a key, items leave
 * first in first out. An item waits once, however often it is added.
 *
 * Items may be of several kinds, each with its own rotation of keys. Each kind is served `lead` times for every time of
 * the kinds after it. A kind without items leaves its share to the others.
 */
export interface FairQueue<Item, Key = string> {
  /**
   * An item that already waits under its key stays in place. If this kind now has too many items, drops and returns the
   * newest item of the longest key (of this key, in a tie).
   */
  add(key: Key, item: Item, kind?: number): Dropped<Item> | undefined;
  delete(key: Key, item: Item, kind?: number): void;
  /** The next key that `mayTake` allows (default: all); it goes to the end. */
  take(mayTake?: (key: Key) => boolean): Item | undefined;
  size(key?: Key): number;
  items(key?: Key): Item[];
}

export interface Dropped<Item> {
  item: Item;
  left: number;
}

export interface FairQueueOptions {
  kinds?: number;
  lead?: number;
  maxItems?: number;
}

export function createFairQueue<Item, Key = string>({
  kinds = 1,
  lead = 3,
  maxItems = Infinity,
}: FairQueueOptions = {}): FairQueue<Item, Key> {
  const rings = Array.from({ length: kinds }, () => createRing<Item, Key>());
  const served = rings.map(() => 0);

  const takeFrom = (n: number, mayTake: (key: Key) => boolean): Item | undefined => {
    const ring = rings[n];
    if (!ring) return undefined;
    served[n] = (served[n]! + 1) % (lead + 1);
    return served[n] === 0
      ? (takeFrom(n + 1, mayTake) ?? ring.take(mayTake))
      : (ring.take(mayTake) ?? takeFrom(n + 1, mayTake));
  };

  return {
    add: (key, item, kind = 0) => {
      const ring = rings[kind]!;
      ring.add(key, item);
      return ring.total() > maxItems ? ring.dropFromLongest(key) : undefined;
    },
    delete: (key, item, kind = 0) => rings[kind]!.delete(key, item),
    take: (mayTake = () => true) => takeFrom(0, mayTake),
    size: (key) =>
      rings.reduce((sum, ring) => sum + (key === undefined ? ring.total() : ring.sizeOf(key)), 0),
    items: (key) => rings.flatMap((ring) => ring.items(key)),
  };
}

/**
 * `next` passes over the items in order. Each call for a set's first item would search again through the positions of
 * all that have left, so that ten thousand items would take a hundred million steps.
 */
interface Line<Item> {
  items: Set<Item>;
  next: Iterator<Item>;
}

function createLine<Item>(): Line<Item> {
  const items = new Set<Item>();
  return { items, next: items.values() };
}

function createRing<Item, Key>() {
  const lines = new Map<Key, Line<Item>>(); // in rotation order
  let total = 0;

  const sizeOf = (key: Key) => lines.get(key)?.items.size ?? 0;
  const remove = (key: Key, { items }: Line<Item>, item: Item): void => {
    if (!items.delete(item)) return;
    total -= 1;
    if (items.size === 0) lines.delete(key);
  };

  return {
    add: (key: Key, item: Item) => {
      const line = lines.get(key) ?? createLine<Item>();
      if (line.items.has(item)) return;
      line.items.add(item);
      lines.set(key, line);
      total += 1;
    },
    delete: (key: Key, item: Item) => {
      const line = lines.get(key);
      if (line) remove(key, line, item);
    },
    take: (mayTake: (key: Key) => boolean) => {
      for (const [key, line] of lines) {
        if (!mayTake(key)) continue;
        const item = line.next.next().value as Item; // a line in the ring is never empty
        lines.delete(key);
        if (line.items.size > 1) lines.set(key, line); // at the end
        remove(key, line, item);
        return item;
      }
      return undefined;
    },
    dropFromLongest: (key: Key): Dropped<Item> => {
      let longest = key;
      for (const [other, { items }] of lines) if (items.size > sizeOf(longest)) longest = other;
      const line = lines.get(longest)!;
      const item = [...line.items].at(-1)!;
      remove(longest, line, item);
      return { item, left: line.items.size };
    },
    total: () => total,
    sizeOf,
    items: (key?: Key) =>
      key === undefined
        ? [...lines.values()].flatMap(({ items }) => [...items])
        : [...(lines.get(key)?.items ?? [])],
  };
}
