import * as z from 'zod';
import { waitedMs } from '../history/log/responses.js';
import { actorOf, audit, type Actor, listAudit, auditActions } from '../accounts/audit.js';
import type { Durations } from '../platform/durations.js';
import { findFacts } from './delivery-facts.js';
import type { Replay } from '../catch-up/replay/request-store.js';
import { replayProgress, replayView } from '../catch-up/replay/routes.js';
import { renewFeed } from '../feed/extent-store.js';
import { isoOffset, operatorRoute, type Route } from '../http/route.js';
import {
  idInPath,
  described,
  instant,
  instantOrNull,
  uuid,
  trackingId,
  instantInQuery,
} from '../http/request/fields.js';
import { isUuid, pageOf, paging } from '../http/request/paging.js';
import type { Database } from '../platform/database/postgres.js';
import { notFound } from '../platform/errors.js';
import { explain, waitReasons } from './explanation.js';
import { loadShipments, type MarkedShipment } from '../engine/engine.js';
import { auditList, viewAudit } from '../accounts/responses.js';

const count = (description: string, example = 0) => described(z.int().min(0), description, example);

const resealedSecrets = z
  .object({
    resealed: count(
      'Webhooks whose secrets, headers or query were sealed with another key, and are now sealed with the current one.',
      42,
    ),
    unreadable: count('Webhooks with something that neither key can open.'),
  })
  .meta({ id: 'ResealedSecrets', description: 'The result of sealing all secrets with the current key.' });

const renewedFeed = z
  .object({ renewedAt: instant('Since then, earlier cursors are refused with 400.') })
  .meta({ id: 'RenewedFeed', description: 'The feed was renewed.' });

const explanation = z
  .object({
    deliveryId: uuid('The delivery.'),
    shipperId: uuid('Its shipper.'),
    webhookId: uuid('Its webhook.'),
    eventId: uuid("Its event, by the service's own identifier."),
    shipmentId: uuid('Its shipment; null if the notification belongs to none.').nullable(),
    trackingId: trackingId.nullable().meta({ description: 'The trackingId of its shipment, or null.' }),
    sequence: described(z.int(), "The event's number among those of its shipment.", 1),
    state: described(z.string(), 'The state it reports.', 'CREATED'),
    asOf: instant("The time of this explanation, by PostgreSQL's clock.", '2026-11-21T12:05:00+00:00'),
    place: described(
      z.enum(['OUTBOX', 'LOG', 'NOWHERE']),
      'Where it is: owed, finished, or in neither, though its event and webhook exist.',
    ),
    status: described(
      z.enum(['READY', 'SENDING', 'RETRY', 'SUCCEEDED', 'FAILED', 'CANCELLED']),
      'Its status in the outbox or the log.',
    ).nullable(),
    reason: described(z.string().nullable(), 'Why it was cancelled; else null.', null),
    attemptCount: count('Attempts begun.'),
    failureCount: count('Scheduled attempts that failed, while it is owed.'),
    dueAt: instant('When its next attempt may begin; null while it waits its turn.').nullable(),
    completedAt: instantOrNull('When it was finished; null before that.'),
    waitsFor: described(
      z.array(
        z
          .object({
            reason: described(z.enum(waitReasons), 'What it waits for.', 'PAUSED'),
            until: instantOrNull('When the reason ends, if known.'),
          })
          .meta({ id: 'DeliveryWait', description: 'What keeps a delivery from being sent.' }),
      ),
      'What keeps it from being sent. Every reason has to end.',
    ),
    behind: z
      .object({
        deliveryId: uuid('That delivery.'),
        eventId: uuid('Its event.'),
        sequence: described(z.int(), 'Its number among the events of the shipment.', 1),
        status: described(z.string(), 'Its status.', 'RETRY'),
      })
      .meta({ description: 'The earlier state of the shipment that blocks it.' })
      .nullable(),
    lastAttempt: z
      .object({
        number: described(z.int(), 'Its number.', 1),
        startedAt: instant('When it began.'),
        statusCode: described(z.int().nullable(), 'HTTP status of the response; null without one.', 503),
        errorCode: described(z.string().nullable(), 'Why it failed; null if it succeeded.', 'HTTP_STATUS'),
        waitedMs,
      })
      .meta({ description: 'The last finished attempt.' })
      .nullable(),
    claim: z
      .object({
        attempt: described(z.int(), 'The number of the attempt.', 1),
        isByHand: described(z.boolean(), 'Whether the attempt was requested by hand.', false),
        leaseUntil: instant('When the claim of its worker expires.').nullable(),
        hasLapsed: described(z.boolean(), 'Whether that time has passed.', false),
      })
      .meta({ description: 'The current attempt.' })
      .nullable(),
    redeliveryRequestedAt: instantOrNull(
      'When an attempt by hand was requested, if it has not been made yet.',
    ),
    why: described(z.string(), 'The same in words.', 'Its webhook is paused.'),
    next: described(
      z.string(),
      'What happens next, and who does it.',
      'It continues when the shipper sets the webhook to ACTIVE.',
    ),
  })
  .meta({ id: 'DeliveryExplanation', description: 'Why a delivery is where it is.' });

export interface MaintenanceDependencies {
  db: Database;
  resealSecrets(): Promise<{ resealed: number; unreadable: number }>;
  cancelReplay(actor: Actor, replayId: string): Promise<Replay | null>;
  durations: Durations;
  orderHoldMs: number;
  /** How many attempts the schedule gives a delivery. */
  maxAttempts: number;
}

export function maintenanceRoutes(deps: MaintenanceDependencies): Route[] {
  const { db, resealSecrets, cancelReplay } = deps;
  return [
    operatorRoute({
      method: 'get',
      path: '/operator/v1/deliveries/:deliveryId/explanation',
      summary: 'Explain where a delivery is',
      operationId: 'explainDelivery',
      description:
        'Says what the delivery waits for, which claim it has and what happens next, according to PostgreSQL. Shows ids, states and times only.',
      responses: { 200: explanation },
      responseExample: { behind: null, lastAttempt: null, claim: null },
      params: z.object({ deliveryId: idInPath('The delivery.') }),
      handle: async ({ params: { deliveryId } }) => {
        const facts = isUuid(deliveryId) ? await findFacts(db, deliveryId, deps) : null;
        if (!facts) throw notFound('This delivery');
        return { data: explain(facts, deps.durations, deps.maxAttempts) };
      },
    }),
    operatorRoute({
      method: 'post',
      path: '/operator/v1/replays/:replayId/cancel',
      summary: 'Cancel a replay of any shipper',
      operationId: 'cancelReplayOfShipper',
      description: 'Does what its shipper may do. A finished replay stays as it is.',
      responses: { 200: replayProgress },
      params: z.object({ replayId: idInPath('The replay.') }),
      handle: async ({ caller, params: { replayId } }) => {
        const replay = isUuid(replayId) && (await cancelReplay(actorOf(caller), replayId));
        if (!replay) throw notFound('This replay');
        return { data: replayView(replay) };
      },
    }),
    operatorRoute({
      method: 'post',
      path: '/operator/v1/secrets/rotate-key',
      summary: 'Seal all secrets with the current key',
      operationId: 'rotateKey',
      description:
        'Call it after you have changed `SECRETS_KEY` and set the previous key as `SECRETS_KEY_PREVIOUS`.',
      responses: { 200: resealedSecrets },
      handle: async ({ caller }) => {
        const result = await resealSecrets(); // many transactions, each safe to repeat
        await audit(db, actorOf(caller), { action: 'SECRETS_RESEALED' });
        return { data: result };
      },
    }),
    operatorRoute({
      method: 'post',
      path: '/operator/v1/feed/renew',
      summary: 'Invalidate all cursors of the feed',
      operationId: 'renewFeed',
      description:
        'Call it after the database was restored in a way that the service cannot detect, such as from a snapshot of its disk. The service detects a restored dump and a promoted standby by itself. Readers of the feed get a 400 and begin again.',
      responses: { 200: renewedFeed },
      handle: async ({ caller }) => {
        await db.transaction((tx) => renewFeed(tx, actorOf(caller), 'ASKED'));
        return { data: { renewedAt: isoOffset(new Date()) } };
      },
    }),
  ];
}

export interface ErasureRouteDependencies {
  db: Database;
  create(shipmentId: string): Promise<unknown>;
  erase(shipmentId: string, by: Actor): Promise<MarkedShipment[]>;
}

const erased = z
  .object({
    trackingId,
    shipmentId: uuid('Identifier of the shipment.'),
    erasedAt: instant('When its personal data was first erased.'),
  })
  .meta({ id: 'ErasedShipment', description: 'The shipment, without personal data.' });

export function erasureRoutes(deps: ErasureRouteDependencies): Route[] {
  const find = async (either: string) => {
    if (either.includes('\0')) return undefined;
    const [found] = await (isUuid(either)
      ? loadShipments(deps.db, [either], [])
      : loadShipments(deps.db, [], [either]));
    return found;
  };
  return [
    operatorRoute({
      method: 'post',
      path: '/operator/v1/shipments/:trackingId/erase',
      summary: 'Erase the personal data of a shipment',
      operationId: 'eraseShipment',
      description:
        "Replaces the recipient, the address and the parcel's contents in the order, and what was reported with its states (evidences, anomalies, places) in its events and notifications; deletes the receivers' responses from the log. This cannot be undone. Deliveries still owed for the shipment become `CANCELLED` (`ERASED`); none is sent after the response. Identifiers, states and times stay. Later states are recorded and sent without such data. The request may be repeated.",
      responses: { 200: erased },
      params: z.object({
        trackingId: trackingId.meta({ description: 'The trackingId of the shipment, or its shipmentId.' }),
      }),
      handle: async ({ caller, params: { trackingId: either } }) => {
        const shipment = await find(either);
        if (!shipment) throw notFound('This shipment');
        // The mark of the erasure is stored with the shipment's state, so the shipment must have a state.
        if (shipment.state === null) await deps.create(shipment.shipmentId);
        const [done] = await deps.erase(shipment.shipmentId, actorOf(caller));
        if (!done) throw notFound('This shipment');
        const { shipmentId, erasedAt } = done;
        return { data: { trackingId: shipment.trackingId, shipmentId, erasedAt: isoOffset(erasedAt) } };
      },
    }),
  ];
}

const about = (description: string) => idInPath(description).refine(isUuid, 'must be a UUID').optional();

const auditQuery = z.object({
  ...paging,
  shipperId: about('Only about this shipper.'),
  userId: about('Only about this user.'),
  webhookId: about('Only about this webhook.'),
  actor: described(
    z.string().regex(/^[\w-]{1,64}$/, 'must be the name of an operator, or the id of a user or token'),
    'Only what this operator (by name), user or token (by id) did.',
    'operator',
  ).optional(),
  action: described(z.enum(auditActions), 'Only this action.').optional(),
  outcome: described(
    z.enum(['DONE', 'REFUSED'], 'must be DONE or REFUSED'),
    'Only actions that were done, or only refused ones.',
  ).optional(),
  from: instantInQuery('Only at this time or later', '2026-11-21T00:00:00Z'),
  to: instantInQuery('Only at this time or earlier', '2026-11-22T00:00:00Z'),
});

export function auditRoutes({ db }: { db: Database }): Route[] {
  return [
    operatorRoute({
      method: 'get',
      path: '/operator/v1/audit',
      summary: 'Read the audit log, newest first',
      operationId: 'listAudit',
      description:
        'Who changed which account, webhook, token or secret, which operator read the payload of a delivery, and who was refused as an operator or at a login. What one actor does to one thing within a minute is one entry with a count; nothing else of an entry changes. Those older than `AUDIT_RETENTION` are deleted.',
      responses: { 200: auditList },
      query: auditQuery,
      handle: async ({ query }) => {
        const { filter, after, rows, cut } = pageOf('audit', query);
        const { page, nextCursor } = cut(await listAudit(db, filter, after, rows), (row) => row.auditId);
        return { data: { entries: page.map(viewAudit), nextCursor } };
      },
    }),
  ];
}
