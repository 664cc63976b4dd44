import { LRUCache } from 'lru-cache';
import { createHmac } from 'node:crypto';
import { sameText } from '../accounts/credentials.js';

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
  problem: string | null;
  answered: Answer;
}

export interface Box {
  items: Item[];
  fail: Failure | null;
  /** How many more requests fail; null: all of them until that is changed. */
  failuresLeft: number | null;
}

export type Boxes = ReturnType<typeof createBoxes>;

const maxBoxes = 50;
export const maxItems = 100;

/** Boxes are in memory only: items may have personal data, and are gone with the process. */
export function createBoxes() {
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
    fail: (shipperId: string, fail: Failure | null, failuresLeft: number | null) =>
      change(shipperId, { fail, failuresLeft }),
    nextAnswer: (shipperId: string) => {
      const { fail, failuresLeft } = of(shipperId);
      if (fail === null) return '200';
      if (failuresLeft === 1) change(shipperId, { fail: null, failuresLeft: null });
      else if (failuresLeft !== null) change(shipperId, { failuresLeft: failuresLeft - 1 });
      return fail;
    },
    add: (shipperId: string, item: Item) =>
      void change(shipperId, { items: [item, ...of(shipperId).items].slice(0, maxItems) }),
    empty: (shipperId: string) => {
      const { items } = of(shipperId);
      change(shipperId, { items: [] });
      return items.length;
    },
  };
}

export type InboxAddresses = ReturnType<typeof createInboxAddresses>;

export const inboxPath = '/inbox/';

/** `token` in its address identifies a shipper and proves it: 16 bytes of its id, 16 of an HMAC, in base64url. */
export function createInboxAddresses(baseUrl: string, secret: string) {
  const tokenOf = (shipperId: string) => {
    const mac = createHmac('sha256', secret).update(`inbox ${shipperId}`).digest();
    const id = Buffer.from(shipperId.replaceAll('-', ''), 'hex');
    return Buffer.concat([id, mac.subarray(0, 16)]).toString('base64url');
  };
  return {
    /** The address of a shipper's inbox; the same after a restart. */
    addressOf: (shipperId: string) => `${baseUrl}${inboxPath}${tokenOf(shipperId)}`,
    /** Null for a token that this service has not made. */
    shipperOf: (token: string) => {
      const shipperId = Buffer.from(token, 'base64url')
        .toString('hex', 0, 16)
        .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
      return sameText(token, tokenOf(shipperId)) ? shipperId : null;
    },
  };
}
