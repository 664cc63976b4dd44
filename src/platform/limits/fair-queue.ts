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
  /** Per kind. */
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

function createRing<Item, Key>() {
  const queues = new Map<Key, Set<Item>>(); // in rotation order
  let total = 0;

  const sizeOf = (key: Key) => queues.get(key)?.size ?? 0;
  const remove = (key: Key, queue: Set<Item>, item: Item): void => {
    if (!queue.delete(item)) return;
    total -= 1;
    if (queue.size === 0) queues.delete(key);
  };

  return {
    add: (key: Key, item: Item) => {
      const queue = queues.get(key) ?? new Set<Item>();
      if (queue.has(item)) return;
      queues.set(key, queue.add(item));
      total += 1;
    },
    delete: (key: Key, item: Item) => {
      const queue = queues.get(key);
      if (queue) remove(key, queue, item);
    },
    take: (mayTake: (key: Key) => boolean) => {
      for (const [key, queue] of queues) {
        if (!mayTake(key)) continue;
        const [item] = queue;
        queues.delete(key);
        if (queue.size > 1) queues.set(key, queue); // at the end
        remove(key, queue, item!);
        return item;
      }
      return undefined;
    },
    dropFromLongest: (key: Key): Dropped<Item> => {
      let longest = key;
      for (const [other, { size }] of queues) if (size > sizeOf(longest)) longest = other;
      const queue = queues.get(longest)!;
      const item = [...queue].at(-1)!;
      remove(longest, queue, item);
      return { item, left: queue.size };
    },
    total: () => total,
    sizeOf,
    items: (key?: Key) =>
      key === undefined ? [...queues.values()].flatMap((queue) => [...queue]) : [...(queues.get(key) ?? [])],
  };
}
