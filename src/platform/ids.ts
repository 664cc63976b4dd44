import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';

/** Random bytes are asked for by the page: one at a time they are 4 % of the cost of an order. */
let pool = Buffer.alloc(0);
let used = 0;
export function someRandomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    pool = randomBytes(8_192);
    used = 0;
  }
  return pool.subarray(used, (used += count));
}

let lastMs = -1;
let sequence = 0;

/**
 * A new UUIDv7 (RFC 9562) of this moment; those of one moment count up. Left to itself, uuid never goes back: after a
 * clock was put back its ids would stay ahead for as long as that was, and with them all that is found by time.
 */
export function newId(atMs: number = Date.now()): string {
  sequence = atMs === lastMs ? sequence + 1 : Math.floor(Math.random() * 2 ** 31);
  lastMs = atMs;
  return v7({ msecs: atMs, seq: sequence, random: someRandomBytes(16) });
}

/** Where the UUIDv7s of a moment begin. */
export const firstIdOf = (atMs: number): string => {
  const digits = atMs.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
};

/** The moment of a UUIDv7, in milliseconds since 1970. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
