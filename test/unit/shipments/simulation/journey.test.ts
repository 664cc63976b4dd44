import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ApiError } from '../../../../src/platform/errors.js';
import { planJourney, shortestPath } from '../../../../src/shipments/simulation/journey.js';
import { createCatalogue } from '../../../../src/shipments/states.js';

const letters = ['A', 'B', 'C', 'D', 'E', 'F', 'G'];
/** Any catalogue of these states, in any order, and two of them. */
const anyCatalogue = fc.shuffledSubarray(letters, { minLength: 1 }).chain((names) =>
  fc.record({
    initial: fc.constantFrom(...names),
    states: fc.tuple(
      ...names.map((name) => fc.record({ name: fc.constant(name), next: fc.shuffledSubarray(names) })),
    ),
    from: fc.constantFrom(...names),
    to: fc.constantFrom(...names),
  }),
);

/** The fewest changes between two states: each round adds what one change more reaches. */
function distance(next: (from: string) => string[], from: string, to: string): number | null {
  let reached = new Set(next(from));
  for (let steps = 1; steps <= letters.length; steps += 1) {
    if (reached.has(to)) return steps;
    reached = new Set([...reached].flatMap(next));
  }
  return null;
}

const refusal = (plan: () => unknown): string => {
  try {
    plan();
  } catch (error) {
    if (error instanceof ApiError && error.httpStatus === 409) return error.message;
    throw error;
  }
  throw new Error('it was not refused');
};

test('the shortest path is allowed at every step and none is shorter; null if there is no path', () => {
  fc.assert(
    fc.property(anyCatalogue, ({ from, to, ...file }) => {
      const catalogue = createCatalogue(file);
      const way = shortestPath(catalogue, from, to);
      expect(way?.length ?? null).toBe(distance(catalogue.next, from, to));
      if (!way) return;
      expect(way.at(-1)).toBe(to);
      way.forEach((state, step) => expect(catalogue.allows(way[step - 1] ?? from, state)).toBe(true));
    }),
    { numRuns: 500 },
  );
});

test('a requested journey is accepted if the catalogue allows every step, and refused otherwise', () => {
  fc.assert(
    fc.property(
      anyCatalogue,
      fc.array(fc.constantFrom(...letters), { minLength: 1 }),
      ({ from, to: _, ...file }, wanted) => {
        const catalogue = createCatalogue(file);
        const allowed = wanted.every((state, step) => catalogue.allows(wanted[step - 1] ?? from, state));
        if (allowed) expect(planJourney(catalogue, from, wanted)).toEqual(wanted);
        else expect(refusal(() => planJourney(catalogue, from, wanted))).toMatch(/cannot change from/);
      },
    ),
  );
});

describe('in the default catalogue', () => {
  const catalogue = createCatalogue();
  const toTheEnd = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];

  test.each<[string | null, string[]]>([
    [null, toTheEnd],
    ['CREATED', toTheEnd],
    ['IN_TRANSIT', toTheEnd.slice(2)],
    ['DELIVERY_FAILED', toTheEnd.slice(2)],
  ])('from %s a journey leads to DELIVERED', (from, way) => {
    expect(planJourney(catalogue, from)).toEqual(way);
  });

  test.each<[string, string[] | undefined, string]>([
    ['DELIVERED', undefined, 'The shipment is already DELIVERED; nothing follows DELIVERED.'],
    ['RETURNING', undefined, 'No states lead from RETURNING to DELIVERED; allowed: RETURNED, LOST.'],
    [
      'CREATED',
      ['PICKED_UP', 'PICKED_UP'],
      'A shipment cannot change from PICKED_UP to PICKED_UP; allowed: IN_TRANSIT, RETURNING, CANCELLED, LOST.',
    ],
    ['LOST', ['RETURNED'], 'A shipment cannot change from LOST to RETURNED; nothing follows LOST.'],
  ])('from %s %j is refused, listing the allowed states', (from, wanted, message) => {
    expect(refusal(() => planJourney(catalogue, from, wanted))).toBe(message);
  });
});

test('without a state DELIVERED, states are required', () => {
  const catalogue = createCatalogue({
    initial: 'A',
    states: [
      { name: 'A', next: ['B'] },
      { name: 'B', next: [] },
    ],
  });
  expect(refusal(() => planJourney(catalogue, null))).toMatch(/no state DELIVERED/);
  expect(planJourney(catalogue, null, ['B'])).toEqual(['B']);
});
