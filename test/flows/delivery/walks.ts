import fc from 'fast-check';
import { createCatalogue } from '../../../src/shipments/states.js';
import type { Behaviour } from './journal.js';

export const catalogue = createCatalogue();

export interface Scenario {
  shipments: number;
  requests: { events: { shipment: number; state: string }[]; pauseMs: number }[];
  behaviours: Behaviour[];
}

const fine = fc.record({ delayMs: fc.constantFrom(0, 0, 5) });
const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  { weight: 6, arbitrary: fine },
  { weight: 2, arbitrary: fc.record({ delayMs: fc.integer({ min: 50, max: 400 }) }) },
  { weight: 3, arbitrary: fc.record({ status: fc.constantFrom(500, 503, 404, 302), delayMs: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.constant({ status: 503, retryAfterSeconds: 1 }) },
  { weight: 2, arbitrary: fc.record({ reset: fc.constant(true), delayMs: fc.nat(100) }) },
);

/** Interleaved, in requests of one to ten events. */
export const scenario: fc.Arbitrary<Scenario> = fc
  .record({
    walks: fc.array(fc.array(fc.nat(99), { minLength: 1, maxLength: 6 }), { minLength: 4, maxLength: 10 }),
    mix: fc.array(fc.nat(99), { minLength: 20, maxLength: 20 }),
    cuts: fc.array(fc.tuple(fc.integer({ min: 1, max: 10 }), fc.nat(200)), { minLength: 5, maxLength: 5 }),
    behaviours: fc.array(behaviour, { minLength: 20, maxLength: 40 }),
  })
  .map(({ walks, mix, cuts, behaviours }) => ({
    shipments: walks.length,
    requests: cut(mixed(walks.map(statesOf), mix), cuts),
    behaviours,
  }));

function statesOf(choices: number[]): string[] {
  const states: string[] = [];
  let from = catalogue.initial;
  for (const choice of choices) {
    const next = [...catalogue.names].filter((to) => catalogue.allows(from, to));
    if (next.length === 0) break;
    states.push((from = next[choice % next.length]!));
  }
  return states;
}

function mixed(walks: string[][], mix: number[]): { shipment: number; state: string }[] {
  const events: { shipment: number; state: string }[] = [];
  const rest = walks.map((states, shipment) => ({ shipment, states: [...states] }));
  for (let n = 0; ; n += 1) {
    const open = rest.filter(({ states }) => states.length > 0);
    if (open.length === 0) return events;
    const { shipment, states } = open[mix[n % mix.length]! % open.length]!;
    events.push({ shipment, state: states.shift()! });
  }
}

function cut(events: { shipment: number; state: string }[], cuts: [number, number][]): Scenario['requests'] {
  const requests: Scenario['requests'] = [];
  for (let n = 0, start = 0; start < events.length; n += 1) {
    const [size, pauseMs] = cuts[n % cuts.length]!;
    requests.push({ events: events.slice(start, start + size), pauseMs });
    start += size;
  }
  return requests;
}
