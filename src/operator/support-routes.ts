import { actorOf, audited } from '../accounts/audit/audit.js';
import { shipperExists } from '../accounts/shipper-store.js';
import { deliveryDetails, deliveryList } from '../deliveries/log/responses.js';
import * as log from '../deliveries/log/routes.js';
import { evenIfFieldsAreWrong, idInPath } from '../http/request/fields.js';
import { isUuid } from '../http/request/paging.js';
import { route, type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { notFound } from '../platform/errors.js';
import { shipmentList } from '../shipments/responses.js';
import * as shipments from '../shipments/routes.js';
import type { StateCatalogue } from '../shipments/states.js';
import { findOwner, findShipperOf } from './support-store.js';

const shipperId = (description: string) => idInPath(description).refine(isUuid, 'must be a UUID');

/** An empty list would hide that the id is misspelt. */
async function requireShipper(db: Database, id: string): Promise<void> {
  if (!(await shipperExists(db, id))) throw notFound('This shipper');
}

/**
 * The shipper's own lists, for support. They have nothing of the recipient. A single delivery may
 * have personal data, in its payload and in the responses of its receiver, so each read of one is in the audit log.
 */
export function supportRoutes({
  db,
  catalogue,
  knownStates,
}: {
  db: Database;
  catalogue: StateCatalogue;
  /** Those that a delivery may send today. */
  knownStates: ReadonlySet<string>;
}): Route[] {
  return [
    route({
      method: 'get',
      path: '/operator/v1/deliveries',
      summary: "List a shipper's deliveries, newest first",
      operationId: 'listDeliveriesOfShipper',
      tag: 'Operator',
      description: `Needs \`shipperId\` or \`trackingId\`. ${log.listDescription}`,
      responses: { 200: deliveryList },
      errors: { 404: 'There is no such shipper.' },
      auth: 'operator',
      query: log
        .logQuery(knownStates)
        .extend({ shipperId: shipperId('Only deliveries of this shipper.').optional() })
        .refine((query) => (query.shipperId ?? query.trackingId) !== undefined, {
          path: ['shipperId'],
          message: 'is required, unless trackingId is given: the id of a shipper',
          ...evenIfFieldsAreWrong,
        }),
      handle: async ({ query: { shipperId: given, ...query } }) => {
        if (given !== undefined) await requireShipper(db, given);
        const owner = given ?? (await findShipperOf(db, query.trackingId!));
        if (owner === null) return { data: { deliveries: [], nextCursor: null } };
        return { data: await log.listPage(db, owner, 'operator deliveries', query) };
      },
    }),
    route({
      method: 'get',
      path: '/operator/v1/deliveries/:deliveryId',
      summary: 'Get a delivery of any shipper, with its attempts',
      operationId: 'getDeliveryOfShipper',
      tag: 'Operator',
      description: `${log.detailsDescription} Shows what its shipper sees. The audit log records each read (\`DELIVERY_READ\`), because payloads and responses may have personal data.`,
      responses: { 200: deliveryDetails },
      auth: 'operator',
      params: log.detailsParams,
      query: log.detailsQuery.extend({
        shipperId: shipperId('Only if it is a delivery of this shipper.').optional(),
      }),
      handle: async ({ caller, params: { deliveryId }, query }) => {
        const owner = isUuid(deliveryId) ? await findOwner(db, deliveryId) : null;
        if (!owner || (query.shipperId ?? owner.shipperId) !== owner.shipperId)
          throw notFound('This delivery');
        const data = await audited(
          db,
          actorOf(caller),
          (tx) => log.detailsPage(tx, owner.shipperId, deliveryId, query),
          () => ({ action: 'DELIVERY_READ', ...owner }),
        );
        return { data };
      },
    }),
    route({
      method: 'get',
      path: '/operator/v1/shipments',
      summary: "List a shipper's shipments, newest first",
      operationId: 'listShipmentsOfShipper',
      tag: 'Operator',
      description: shipments.listDescription,
      responses: { 200: shipmentList },
      errors: { 404: 'There is no such shipper.' },
      auth: 'operator',
      query: shipments
        .listQuery(catalogue)
        .extend({ shipperId: shipperId('The shipper whose shipments are listed.') }),
      handle: async ({ query: { shipperId: owner, ...query } }) => {
        await requireShipper(db, owner);
        return { data: await shipments.listPage(db, owner, 'operator shipments', query) };
      },
    }),
  ];
}
