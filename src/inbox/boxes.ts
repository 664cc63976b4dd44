import { LRUCache } from 'lru-cache';

export const failures = ['500', 'TIMEOUT', '410', 'RESET'] as const;
export type Failure = (typeof failures)[number];
export const answers = ['200', ...failures, '503'] as const;
export type Answer = (typeof answers)[number];

export interface Item {
  itemId: string;
  receivedAt: Date;
  /** Names in lower case; the values of a webhook's own headers are masked. */
  headers: Record<string, string>;
  body: string;
  /** Why it is not verified; null if it is. */
  problem: string | null;
  answered: Answer;
}

export interface Box {
  /** Newest first. */
  items: Item[];
  fail: Failure | null;
  /** How many more requests fail; null: all of them until that is changed. */
  failuresLeft: number | null;
}

export interface Boxes {
  of(shipperId: string): Box;
  /** Applies from the next request on. */
  fail(shipperId: string, fail: Failure | null, times: number | null): Box;
  /** Counts as a request. */
  nextAnswer(shipperId: string): Answer;
  add(shipperId: string, item: Item): void;
  /** Returns how many items it had. */
  empty(shipperId: string): number;
}

const maxBoxes = 50;
export const maxItems = 100;

/** Items are in memory only: they may have personal data, and are gone with the process. */
export function createBoxes(): Boxes {
  const boxes = new LRUCache<string, Box>({ max: maxBoxes });
  const change = (shipperId: string, changes: Partial<Box>): Box => {
    const box = { ...of(shipperId), ...changes };
    boxes.set(shipperId, box);
    return box;
  };
  const of = (shipperId: string): Box =>
    boxes.get(shipperId) ?? { items: [], fail: null, failuresLeft: null };
  return {
    of,
    fail: (shipperId, fail, failuresLeft) => change(shipperId, { fail, failuresLeft }),
    nextAnswer: (shipperId) => {
      const { fail, failuresLeft } = of(shipperId);
      if (fail === null) return '200';
      if (failuresLeft === 1) change(shipperId, { fail: null, failuresLeft: null });
      else if (failuresLeft !== null) change(shipperId, { failuresLeft: failuresLeft - 1 });
      return fail;
    },
    add: (shipperId, item) =>
      void change(shipperId, { items: [item, ...of(shipperId).items].slice(0, maxItems) }),
    empty: (shipperId) => {
      const { items } = of(shipperId);
      change(shipperId, { items: [] });
      return items.length;
    },
  };
}
