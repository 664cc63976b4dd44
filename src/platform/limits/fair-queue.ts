/** Items wait under keys; the keys take turns, so that many waiting under one do not delay another. */
export interface FairQueue<Item> {
  /**
   * Where the queue is full, takes out and returns the newest item of the key that has most of them, which may be this
   * one, and whether others of its key are left.
   */
  add(key: string, item: Item): { dropped: Item; crowd: boolean } | null;
  /** The first item of the key whose turn it is; that key goes to the end. */
  take(): Item | undefined;
  /** How many wait under this key. */
  waiting(key: string): number;
}

export function createFairQueue<Item>(maxWaiting: number): FairQueue<Item> {
  const queues = new Map<string, Item[]>(); // in the order of their turns
  let inAll = 0;

  /** Of keys with as many, `first` is the one. */
  const longest = (first: string): string =>
    [...queues].reduce((most, [key, items]) => (items.length > queues.get(most)!.length ? key : most), first);

  return {
    add: (key, item) => {
      const queue = queues.get(key);
      if (queue) queue.push(item);
      else queues.set(key, [item]);
      inAll += 1;
      if (inAll <= maxWaiting) return null;
      const most = longest(key);
      const crowd = queues.get(most)!;
      const dropped = crowd.pop()!;
      if (crowd.length === 0) queues.delete(most);
      inAll -= 1;
      return { dropped, crowd: crowd.length > 0 };
    },
    take: () => {
      const [turn] = queues;
      if (!turn) return undefined;
      const [key, [item, ...others]] = turn;
      queues.delete(key);
      if (others.length > 0) queues.set(key, others);
      inAll -= 1;
      return item;
    },
    waiting: (key) => queues.get(key)?.length ?? 0,
  };
}
