import * as z from 'zod';
import { described } from '../../http/described.js';
import { isoOffset } from '../../http/envelope.js';
import { moment, nextCursor, ownIdInQuery, trackingId, uuid } from '../../http/request/fields.js';
import { momentInQuery } from '../../http/request/moments.js';
import { cutPage, paging } from '../../http/request/paging.js';
import { route, type Route } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
import { orderSchema } from '../order.js';
import type { StateCatalogue } from '../states.js';
import { listShipments, type ListedShipment } from './store.js';

const query = z.object({
  ...paging,
  shipperTrackingId: ownIdInQuery('Only those that bear it: it need not be unique.'),
  state: described(
    z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be a state name such as CREATED'),
    'Only those that are in this state now; those not created yet are in none.',
    'CREATED',
  ).optional(),
  from: momentInQuery('Only those accepted then or later'),
  to: momentInQuery('Only those accepted before'),
});

const shipment = z
  .object({
    trackingId,
    shipmentId: uuid('Identifier of the shipment.'),
    shipperTrackingId: orderSchema.shape.shipperTrackingId,
    state: described(z.string().nullable(), 'State now; null until the shipment is created.', 'CREATED'),
    acceptedAt: moment('When the order was accepted.'),
    updatedAt: moment('When it came to its state; until it is created, when the order was accepted.'),
  })
  .meta({ id: 'ListedShipment', description: 'A shipment without its recipient.' });

const shipmentList = z
  .object({ shipments: z.array(shipment), nextCursor })
  .meta({ description: 'Shipments, newest first.' });

const stateList = z
  .object({
    states: described(
      z.array(
        z
          .object({
            state: described(z.string(), 'Its name.', 'CREATED'),
            terminal: described(z.boolean(), 'Whether nothing follows.', false),
            next: described(z.array(z.string()), 'The states that may follow.', ['PICKED_UP', 'CANCELLED']),
          })
          .meta({ id: 'State', description: 'A state and what may follow.' }),
      ),
      'Every state a shipment can be in; the first is that of a shipment just created.',
    ),
  })
  .meta({ description: 'The catalogue of states.' });

/** Which shipments there are, and what may become of them (contract, section 4). */
export function findingRoutes({ db, catalogue }: { db: Database; catalogue: StateCatalogue }): Route[] {
  const states = statesOf(catalogue);
  return [
    route({
      method: 'get',
      path: '/v1/shipments',
      cost: 'dear',
      summary: 'List shipments, newest first',
      operationId: 'listShipments',
      tag: 'Shipments',
      description:
        'With `state`, a page looks at 5,000 shipments at most: it may have fewer than `limit`, or none, while `nextCursor` leads on. The list is at its end when `nextCursor` is null.',
      answers: { 200: shipmentList },
      query,
      handle: async ({ caller, query: { limit, cursor, ...filter } }) => {
        const found = await listShipments(db, caller.shipperId, filter, cursor, limit + 1);
        const { page, nextCursor } = cutPage(
          found.shipments,
          limit,
          ({ shipmentId }) => shipmentId,
          found.lookedTo,
        );
        return { data: { shipments: page.map(view), nextCursor } };
      },
    }),
    route({
      method: 'get',
      path: '/v1/states',
      summary: 'List the states of shipments',
      operationId: 'listStates',
      tag: 'Shipments',
      description: 'What webhooks may be interested in, and which state may follow which.',
      answers: { 200: stateList },
      handle: () => Promise.resolve({ data: { states } }),
    }),
  ];
}

const view = (listed: ListedShipment) => ({
  ...listed,
  acceptedAt: isoOffset(listed.acceptedAt),
  updatedAt: isoOffset(listed.updatedAt),
});

/** The initial state first, the others as the catalogue has them. */
const statesOf = ({ initial, names, next, isTerminal }: StateCatalogue) =>
  [...new Set([initial, ...names])].map((state) => ({
    state,
    terminal: isTerminal(state),
    next: next(state),
  }));
