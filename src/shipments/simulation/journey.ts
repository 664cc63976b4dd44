import { allowedFrom, changeRefused } from '../../engine/engine.js';
import { conflict } from '../../platform/errors.js';
import type { StateCatalogue } from '../states.js';

const destination = 'DELIVERED';

/** Includes the last state; null if no path leads there. */
export function shortestPath(
  { next }: Pick<StateCatalogue, 'next'>,
  from: string,
  to: string,
): string[] | null {
  const cameFrom = new Map<string, string>();
  const reached = [from];
  for (const state of reached) {
    for (const following of next(state)) {
      if (cameFrom.has(following)) continue;
      cameFrom.set(following, state);
      reached.push(following);
    }
    if (cameFrom.has(to)) return pathBack(cameFrom, from, to).reverse();
  }
  return null;
}

function pathBack(cameFrom: Map<string, string>, from: string, to: string): string[] {
  const path = [to];
  for (let state = cameFrom.get(to)!; state !== from; state = cameFrom.get(state)!) path.push(state);
  return path;
}

/**
 * Plans the wanted states, or else the shortest path to DELIVERED. A shipment that is not created yet starts in the
 * initial state. Throws ApiError CONFLICT if the catalogue does not allow the journey.
 */
export function planJourney(catalogue: StateCatalogue, from: string | null, wanted?: string[]): string[] {
  const start = from ?? catalogue.initial;
  if (!wanted) return pathToDestination(catalogue, start);
  wanted.forEach((state, step) => {
    const before = wanted[step - 1] ?? start;
    if (!catalogue.allows(before, state)) throw changeRefused(before, state, catalogue.next(before));
  });
  return wanted;
}

function pathToDestination(catalogue: StateCatalogue, start: string): string[] {
  if (!catalogue.names.has(destination))
    throw conflict(`There is no state ${destination}; give the \`states\` to go through from ${start}.`);
  const path = shortestPath(catalogue, start, destination);
  if (path) return path;
  throw conflict(
    start === destination
      ? `The shipment is already ${destination}; ${allowedFrom(start, catalogue.next(start))}.`
      : `No states lead from ${start} to ${destination}; ${allowedFrom(start, catalogue.next(start))}.`,
  );
}
