import { conflict, type ApiError } from '../platform/errors.js';

/** What a shipment may change to from a state, in words; null is before it is created. */
export function allowedFrom(from: string | null, allowed: readonly string[]): string {
  return allowed.length > 0 ? `allowed: ${allowed.join(', ')}` : `nothing follows ${from}`;
}

/** Why a shipment does not change from one state to another: `allowed` are those it can change to. */
export const changeRefused = (from: string | null, to: string, allowed: readonly string[]): ApiError =>
  conflict(
    from === null
      ? `A shipment that is not created yet cannot change to ${to}; ${allowedFrom(from, allowed)}.`
      : `A shipment cannot change from ${from} to ${to}; ${allowedFrom(from, allowed)}.`,
  );
