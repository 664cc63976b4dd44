import { allowedFrom, changeRefused } from '../../events/state-change.js';
import { conflict } from '../../platform/errors.js';
import type { StateCatalogue } from '../states.js';

/** Where a journey leads unless its states are named. */
const destination = 'DELIVERED';

/** The states from one to another, with as few as there can be, the last included; null where no way leads there. */
export function shortestWay(
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
    if (cameFrom.has(to)) return wayBack(cameFrom, from, to).reverse();
  }
  return null;
}

function wayBack(cameFrom: Map<string, string>, from: string, to: string): string[] {
  const way = [to];
  for (let state = cameFrom.get(to)!; state !== from; state = cameFrom.get(state)!) way.push(state);
  return way;
}

/**
 * The states that a shipment in state `from` will go through: those that are wanted, else the shortest way to DELIVERED.
 * A shipment that is not created yet begins where it will be then. Throws ApiError CONFLICT where the catalogue does not
 * allow it.
 */
export function planJourney(catalogue: StateCatalogue, from: string | null, wanted?: string[]): string[] {
  const start = from ?? catalogue.initial;
  if (!wanted) return wayToDestination(catalogue, start);
  wanted.forEach((state, step) => {
    const before = wanted[step - 1] ?? start;
    if (!catalogue.allows(before, state)) throw changeRefused(before, state, catalogue.next(before));
  });
  return wanted;
}

function wayToDestination(catalogue: StateCatalogue, start: string): string[] {
  if (!catalogue.names.has(destination))
    throw conflict(`There is no state ${destination}: name the \`states\` to go through, from ${start}.`);
  const way = shortestWay(catalogue, start, destination);
  if (way) return way;
  throw conflict(
    start === destination
      ? `The shipment is ${destination} already; ${allowedFrom(start, catalogue.next(start))}.`
      : `No states lead from ${start} to ${destination}; ${allowedFrom(start, catalogue.next(start))}.`,
  );
}
