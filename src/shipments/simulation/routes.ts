import * as z from 'zod';
import { described } from '../../http/request/fields.js';
import { route, type Route } from '../../http/route.js';
import { conflict, notFound, tooManyRequests } from '../../platform/errors.js';
import { oneOf } from '../../platform/issues.js';
import { newId } from '../../platform/ids.js';
import type { Database } from '../../platform/database/postgres.js';
import type { RateLimits } from '../../platform/limits/rate-limit.js';
import type { StateCatalogue } from '../states.js';
import { planJourney, shortestPath } from './journey.js';
import { findShipment } from '../store.js';
import { insertSimulation } from './advance.js';
import * as fields from '../../http/request/fields.js';

const simulationsPerShipper = 100;
const retryAfterSeconds = 5;
const maxStates = 50;
const maxPerHour = 1_000;
const interval = { min: 100, max: 3_600_000, default: 1_000 };

export interface SimulationDependencies {
  db: Database;
  catalogue: StateCatalogue;
  limits: RateLimits;
  onLimited(): void;
  onBegun(): void;
}

const states = (description: string, known: ReadonlySet<string>) =>
  described(
    z.array(
      described(
        z.string().refine((state) => known.has(state), { error: ({ input }) => oneOf([...known], input) }),
        'A state.',
        [...known][0],
        { enum: [...known] },
      ),
    ),
    description,
  );

const intervalMs = described(
  z
    .int(`must be a whole number from ${interval.min} to ${interval.max}`)
    .min(interval.min, `must be at least ${interval.min}`)
    .max(interval.max, `must be at most ${interval.max}`),
  'Milliseconds from one state to the next.',
  interval.default,
);

const bodyOf = (known: ReadonlySet<string>) =>
  z
    .object({
      states: states(
        'The states to go through, one after the other. Default: the shortest way to DELIVERED.',
        known,
      )
        .min(1, 'must have at least one state')
        .max(maxStates, `must have at most ${maxStates} states`)
        .optional(),
      intervalMs: intervalMs.default(interval.default),
    })
    .prefault({});

export function simulationRoutes(deps: SimulationDependencies): Route[] {
  const { db, catalogue } = deps;
  const startsPerHour = deps.limits.limit({ name: 'simulation', points: maxPerHour, windowSeconds: 3_600 });
  return [
    route({
      method: 'post',
      path: '/v1/shipments/:trackingId/simulate',
      summary: 'Simulate the journey of a shipment',
      operationId: 'simulateShipment',
      tokenScopes: ['orders'],
      tag: 'Shipments',
      description:
        'For development; `SIMULATE` switches it on. The first state is recorded at once, each further one after the interval, and your webhooks are notified as usual. If the shipment is not created yet, the journey starts when it is. It ends early if another event changes the shipment so that the next state is not allowed. It pauses while the account is suspended.',
      responses: {
        202: z
          .object({
            states: states('The states it will go through.', catalogue.names),
            intervalMs,
          })
          .meta({ id: 'Simulation', description: 'The simulation has started.' }),
      },
      errors: {
        409: 'The catalogue of states does not allow this journey from the state of the shipment (the message says what it allows), or another simulation of the shipment is under way.',
        429: `Too many requests, or ${simulationsPerShipper} simulations of your shipments are under way, or ${maxPerHour.toLocaleString('en')} were started within an hour.`,
      },
      params: z.object({ trackingId: fields.trackingId }),
      body: bodyOf(catalogue.names),
      bodyExample: { intervalMs: interval.default },
      responseExample: {
        states: shortestPath(catalogue, catalogue.initial, 'DELIVERED') ?? [catalogue.initial],
      },
      handle: async ({ caller: { shipperId }, params: { trackingId }, body }) => {
        const shipment = await findShipment(db, shipperId, trackingId);
        if (!shipment) throw notFound('This shipment');
        const journey = {
          states: planJourney(catalogue, shipment.state, body.states),
          intervalMs: body.intervalMs,
        };
        const { left, resetMs } = await startsPerHour.spend(shipperId);
        if (left < 0) {
          deps.onLimited();
          throw tooManyRequests(
            `At most ${maxPerHour} simulations may be started per hour.`,
            resetMs / 1_000,
          );
        }
        const { shipmentId } = shipment;
        const simulation = { shipmentId, shipperId, simulationId: newId(), ...journey };
        const begun = await insertSimulation(db, simulation, simulationsPerShipper);
        if (begun === 'same') throw conflict('A simulation of this shipment is already under way.');
        if (begun === 'many')
          throw tooManyRequests(
            `${simulationsPerShipper} simulations of your shipments are under way; wait for one to end.`,
            retryAfterSeconds,
          );
        deps.onBegun();
        return { httpStatus: 202, data: journey };
      },
    }),
  ];
}
