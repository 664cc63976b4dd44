import { v7 } from 'uuid';

/**
 * A new UUIDv7 (RFC 9562) of this moment. Without a time of its own, uuid never goes back: after a clock was put back
 * its ids would stay ahead for as long as that was, and with them all that is found by the time in its id.
 */
export const newId = (atMs: number = Date.now()): string => v7({ msecs: atMs });

/** Where the UUIDv7s of a moment begin. */
export const firstIdOf = (atMs: number): string => {
  const digits = atMs.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
};

/** The moment of a UUIDv7, in milliseconds since 1970. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
