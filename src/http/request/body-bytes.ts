import type { Response } from 'express';
import { tooManyRequests } from '../../platform/errors.js';

/**
 * Bounds the memory of the bodies of requests under way. Returns a function that counts the bytes of one request's
 * body, until its response closes. It throws ApiError TOO_MANY_REQUESTS if the caller exceeds its share: a body without
 * room is refused at once, not queued.
 */
export type BodyBytes = (callerId: string, response: Response) => (bytes: number) => void;

/** A caller may have at most this share of the free bytes, so that a new caller always finds some. */
const shareOfFree = 1 / 8;

export function createBodyBytes({
  maxBytes,
  onRefused,
}: {
  /** The limit for all callers together. */
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
    return tooManyRequests('The request bodies in progress for this account are too large.', 1);
  };

  return (callerId, response) => {
    if (response.destroyed) throw refusal();
    let received = 0;
    response.once('close', () => add(callerId, -received));
    return (bytes) => {
      const share = (maxBytes - total) * shareOfFree;
      if (response.destroyed || (byCaller.get(callerId) ?? 0) + bytes > share) throw refusal();
      received += bytes;
      add(callerId, bytes);
    };
  };
}
