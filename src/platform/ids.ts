import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';

/** Random bytes are fetched 8 KiB at a time: one id at a time, they are 4 % of the cost of an order. */
let pool = Buffer.alloc(0);
let used = 0;
export function pooledRandomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    pool = randomBytes(8_192);
    used = 0;
  }
  return pool.subarray(used, (used += count));
}

let lastMs = -1;
let sequence = 0;

/**
 * UUIDv7 (RFC 9562); ids of the same millisecond ascend. The time is passed on each call because uuid's own never goes
 * back: after a clock is set back its ids would stay ahead, and lookups by time would miss them.
 */
export function newId(atMs: number = Date.now()): string {
  sequence = atMs === lastMs ? sequence + 1 : Math.floor(Math.random() * 2 ** 31);
  lastMs = atMs;
  return v7({ msecs: atMs, seq: sequence, random: pooledRandomBytes(16) });
}

/** No id is lower: a walk by id begins after this one. */
export const lowestId = '00000000-0000-0000-0000-000000000000';

export const firstIdOf = (atMs: number): string => {
  const digits = atMs.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
};

export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
