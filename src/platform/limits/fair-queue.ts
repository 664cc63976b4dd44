/**
 * Items wait under keys. Keys take turns, and so do the items of one key, so that many items under one key delay no
 * other key. An item waits once, however often it is added.
 */
export interface FairQueue<Item> {
  /** Adds an item at the end of its key; one that waits there already keeps its place. */
  add(key: string, item: Item): void;
  delete(key: string, item: Item): void;
  /** Takes the first item of the next key that `mayTake`, all keys by default; that key goes to the end. */
  take(mayTake?: (key: string) => boolean): Item | undefined;
  /** Takes the newest item of the key that has most, `key` where several have as many, and says how many it has left. */
  takeFromLongest(key: string): { item: Item; left: number } | undefined;
  /** How many items wait, in all or under one key. */
  size(key?: string): number;
}

export function createFairQueue<Item>(): FairQueue<Item> {
  const queues = new Map<string, Set<Item>>(); // in the order of their turns
  let total = 0;

  const sizeOf = (key: string) => queues.get(key)?.size ?? 0;
  const remove = (key: string, queue: Set<Item>, item: Item): void => {
    if (!queue.delete(item)) return;
    total -= 1;
    if (queue.size === 0) queues.delete(key);
  };

  return {
    add: (key, item) => {
      const queue = queues.get(key) ?? new Set<Item>();
      if (queue.has(item)) return;
      queues.set(key, queue.add(item));
      total += 1;
    },
    delete: (key, item) => {
      const queue = queues.get(key);
      if (queue) remove(key, queue, item);
    },
    take: (mayTake = () => true) => {
      for (const [key, queue] of queues) {
        if (!mayTake(key)) continue;
        const [item] = queue;
        queues.delete(key);
        queues.set(key, queue); // at the end
        remove(key, queue, item!);
        return item;
      }
      return undefined;
    },
    takeFromLongest: (key) => {
      let longest = key;
      for (const [other, { size }] of queues) if (size > sizeOf(longest)) longest = other;
      const queue = queues.get(longest);
      if (!queue) return undefined;
      const item = [...queue].at(-1)!;
      remove(longest, queue, item);
      return { item, left: queue.size };
    },
    size: (key) => (key === undefined ? total : sizeOf(key)),
  };
}
