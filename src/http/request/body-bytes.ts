import type { Response } from 'express';
import { tooManyRequests } from '../../platform/errors.js';

/**
 * Bounds the memory that the bodies of requests under way take. Returns a function that counts the bytes of one
 * request's body; they are released when its response has closed. It throws ApiError TOO_MANY_REQUESTS if the caller
 * exceeds its share. Nothing waits here: a body without room is refused at once.
 */
export type BodyBytes = (callerId: string, response: Response) => (bytes: number) => void;

/**
 * No caller may have more than this part of what is free. So a new caller always finds some bytes free.
 */
const partOfFree = 1 / 8;

export function createBodyBytes({
  maxBytes,
  onRefused,
}: {
  /** The bound for all callers together. */
  maxBytes: number;
  onRefused(): void;
}): BodyBytes {
  const byCaller = new Map<string, number>();
  let total = 0;

  const add = (callerId: string, bytes: number) => {
    total += bytes;
    const ofCaller = (byCaller.get(callerId) ?? 0) + bytes;
    if (ofCaller > 0) byCaller.set(callerId, ofCaller);
    else byCaller.delete(callerId);
  };
  const refusal = () => {
    onRefused();
    return tooManyRequests('The bodies of your requests under way are too large.', 1);
  };

  return (callerId, response) => {
    if (response.destroyed) throw refusal();
    let received = 0;
    response.once('close', () => add(callerId, -received));
    return (bytes) => {
      const share = (maxBytes - total) * partOfFree;
      if (response.destroyed || (byCaller.get(callerId) ?? 0) + bytes > share) throw refusal();
      received += bytes;
      add(callerId, bytes);
    };
  };
}
