import * as z from 'zod';
import { actorOf, audited } from '../accounts/audit.js';
import { shipperExists } from '../accounts/shippers.js';
import { newSupportLink } from '../accounts/support/store.js';
import { deliveryDetails, deliveryList } from '../history/log/responses.js';
import * as log from '../history/log/routes.js';
import { described, evenIfFieldsAreWrong, idInPath } from '../http/request/fields.js';
import { isUuid } from '../http/request/paging.js';
import { operatorRoute, type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { notFound } from '../platform/errors.js';
import { shipmentList } from '../shipments/responses.js';
import * as shipments from '../shipments/routes.js';
import type { StateCatalogue } from '../shipments/states.js';
import { isInRangeOf, owedByKey } from '../engine/engine.js';

const shipperId = (description: string) => idInPath(description).refine(isUuid, 'must be a UUID');

const portalLink = z
  .object({
    url: described(
      z.string(),
      'Open it in a browser. It is good for one use, within 15 minutes.',
      'https://parcelhook.example.com/support?token=Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms',
      { format: 'uri' },
    ),
  })
  .meta({ id: 'PortalLink', description: "The link, which opens the shipper's portal." });

export const portalLinkRoute = (db: Database, publicUrl: () => string, cell: string | undefined): Route =>
  operatorRoute({
    method: 'post',
    path: '/operator/v1/shippers/:shipperId/portal-link',
    summary: "Make a link that opens a shipper's portal",
    operationId: 'createPortalLink',
    description:
      "For support. The link opens the shipper's portal, read-only, for an hour: every change is 403. Its making and its opening are in the audit log, and the shipper's users see when it was opened last.",
    responses: { 201: portalLink },
    params: z.object({ shipperId: idInPath('The shipper.') }),
    handle: async ({ caller, params }) => {
      if (!isUuid(params.shipperId)) throw notFound('This shipper');
      const links = { publicUrl: publicUrl(), cell };
      return {
        httpStatus: 201,
        data: { url: await newSupportLink(db, links, actorOf(caller), params.shipperId) },
      };
    },
  });

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
  readDb,
  catalogue,
  knownStates,
}: {
  db: Database;
  readDb: Database;
  catalogue: StateCatalogue;
  knownStates: ReadonlySet<string>;
}): Route[] {
  return [
    operatorRoute({
      method: 'get',
      path: '/operator/v1/deliveries',
      summary: "List a shipper's deliveries, newest first",
      operationId: 'listDeliveriesOfShipper',
      description: `Needs \`shipperId\` or \`trackingId\`. ${log.listDescription}`,
      responses: { 200: deliveryList },
      errors: { 404: 'There is no such shipper.' },
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
        return { data: await log.listPage(readDb, owner, 'operator deliveries', query) };
      },
    }),
    operatorRoute({
      method: 'get',
      path: '/operator/v1/deliveries/:deliveryId',
      summary: 'Get a delivery of any shipper, with its attempts',
      operationId: 'getDeliveryOfShipper',
      description: `${log.detailsDescription} Shows what its shipper sees. The audit log records each read (\`DELIVERY_READ\`), because payloads and responses may have personal data.`,
      responses: { 200: deliveryDetails },
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
    operatorRoute({
      method: 'get',
      path: '/operator/v1/shipments',
      summary: "List a shipper's shipments, newest first",
      operationId: 'listShipmentsOfShipper',
      description: shipments.listDescription,
      responses: { 200: shipmentList },
      errors: { 404: 'There is no such shipper.' },
      query: shipments
        .listQuery(catalogue)
        .extend({ shipperId: shipperId('The shipper whose shipments are listed.') }),
      handle: async ({ query: { shipperId: owner, ...query } }) => {
        await requireShipper(db, owner);
        return { data: await shipments.listPage({ db, readDb }, owner, 'operator shipments', query) };
      },
    }),
  ];
}

/** `shipmentId` is null for tests and notices. */
interface DeliveryOwner {
  shipperId: string;
  webhookId: string;
  shipmentId: string | null;
}

/** A delivery's id contains half of its event's id, so the event leads to the shipper. Null if it is not in the log. */
export async function findOwner(db: Database, deliveryId: string): Promise<DeliveryOwner | null> {
  const [owner] = await db.query<DeliveryOwner>(
    'find-owner-of-delivery',
    `select e.shipper_id as "shipperId", d.webhook_id as "webhookId", e.shipment_id as "shipmentId"
       from (select event_id, shipper_id, shipment_id from events
              where ${isInRangeOf('event_id', '$1::uuid')} offset 0) e
      cross join lateral (
        ${owedByKey('e.shipper_id', '$1::uuid')}
        union all
        select shipper_id, delivery_id, webhook_id, event_id from deliveries
         where shipper_id = e.shipper_id and delivery_id = $1::uuid) d
      where d.event_id = e.event_id limit 1`,
    [deliveryId],
  );
  return owner ?? null;
}

async function findShipperOf(db: Database, trackingId: string): Promise<string | null> {
  const [shipment] = await db.query<{ shipperId: string }>(
    'find-shipper-of-shipment',
    'select shipper_id as "shipperId" from shipments where tracking_id = $1',
    [trackingId],
  );
  return shipment?.shipperId ?? null;
}
