import * as z from 'zod';
import { actorOf } from '../accounts/audit/audit.js';
import { password } from '../accounts/password-page.js';
import { registerShipper } from '../accounts/shippers.js';
import { newPasswordLink, registerUser } from '../accounts/users.js';
import type { NewEvent, RecordResult } from '../events/record.js';
import {
  described,
  anyJson,
  idInPath,
  milliseconds,
  notBlank,
  trackingId,
  details,
  uuid,
} from '../http/request/fields.js';
import { isUuid } from '../http/request/paging.js';
import { traced, traceHeaders } from '../http/request/trace.js';
import { detailOf, route, type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import type { TraceContext, Tracing } from '../platform/tracing.js';
import { ApiError, invalidRequest, notFound } from '../platform/errors.js';
import { statusResponse } from './status.js';

export interface OperatorDependencies {
  db: Database;
  publicUrl(): string;
  /** States that an event may have. */
  knownStates: ReadonlySet<string>;
  recordEvent(event: NewEvent): Promise<RecordResult>;
  recordEvents(events: NewEvent[]): Promise<RecordResult[]>;
  tracing: Tracing;
  status(): Promise<object>;
}

const setPasswordUrl = described(
  z.string(),
  'Give it to the user: good for one use and 24 hours.',
  'https://parcelhook.example.com/set-password?token=Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms',
  { format: 'uri' },
);

const registeredShipper = z
  .object({
    shipperId: uuid('Identifier of the shipper.'),
    accountKey: described(
      z.string(),
      'Account key of all its users; shown only here.',
      'ak_AAECAwQFBgcICQoLDA0ODxAREhM',
    ),
  })
  .meta({ id: 'Shipper', description: 'The shipper with its account key, which is shown only here.' });

const registeredUser = z
  .object({ userId: uuid('Identifier of the user.'), setPasswordUrl })
  .meta({ id: 'User', description: 'The user with a link to set a password.' });

const passwordLink = z.object({ setPasswordUrl }).meta({ description: 'The link.' });

const eventId = described(
  z.string(),
  "The event: your own `eventId`, or the service's. It is the `webhook-id` of its notifications.",
  'scan-20261121-0001',
);

const recordedEvent = z.object({ eventId }).meta({
  id: 'RecordedEvent',
  description: 'The event is recorded, and its deliveries are owed.',
});

const refusedEvent = z
  .object({
    error: z.object({
      status: described(z.string(), 'The code of the failure.', 'CONFLICT'),
      message: described(
        z.string(),
        'What went wrong.',
        'A shipment cannot change from DELIVERED to IN_TRANSIT; nothing follows DELIVERED.',
      ),
      details,
    }),
  })
  .meta({ id: 'RefusedEvent', description: 'The event was not recorded.' });

const recordedEvents = z
  .object({
    results: described(z.array(z.union([recordedEvent, refusedEvent])), 'One for each event, in order.'),
  })
  .meta({ description: 'The result of each event.' });

const maxTimestampMs = 253_402_300_799_999; // the end of the year 9999
const maxEvents = 1_000;

const eventFields = (knownStates: ReadonlySet<string>) => ({
  state: described(
    z.string().refine((state) => knownStates.has(state), `must be one of ${[...knownStates].join(', ')}`),
    'The new state of the shipment.',
    [...knownStates][1] ?? [...knownStates][0],
    { enum: [...knownStates] },
  ),
  eventId: described(
    z
      .string()
      .regex(
        /^[\x21-\x2d\x2f-\x7e]{1,255}$/,
        'must be 1 to 255 printable ASCII characters without space and full stop',
      ),
    'Your own identifier: makes it safe to send the event again.',
    'scan-20261121-0001',
  ).optional(),
  timestamp: milliseconds('When it happened, in milliseconds since 1970. Default: now.')
    .max(maxTimestampMs)
    .optional(),
  lat: described(z.number().min(-90).max(90).nullish(), 'Latitude in degrees.', 20.6767),
  lng: described(z.number().min(-180).max(180).nullish(), 'Longitude in degrees.', -103.3475),
  anomalies: anyJson('Passed on unchanged.', null).optional(),
  evidences: described(z.array(z.unknown()), 'Passed on unchanged.', []).optional(),
});

type EventFields = z.output<z.ZodObject<ReturnType<typeof eventFields>>>;

const toEvent = (
  trackingId: string,
  { eventId, timestamp, ...fields }: EventFields,
  trace: TraceContext,
): NewEvent => ({
  ...fields,
  trace,
  trackingId,
  externalId: eventId,
  timestampMs: timestamp,
});

const resultView = (result: RecordResult) =>
  result instanceof ApiError
    ? {
        error: {
          status: result.status,
          message: result.message,
          ...(result.extra.details && { details: result.extra.details }),
        },
      }
    : result;

/** Registration, events and status (contract, section 6). */
export function operatorRoutes(deps: OperatorDependencies): Route[] {
  const { db } = deps;
  const fields = eventFields(deps.knownStates);
  const bulkEvent = z.object({ trackingId, ...fields });
  // Events are validated one by one, so that an invalid one does not block the others.
  const anyEvent = z.unknown().meta({ ...z.toJSONSchema(bulkEvent, { io: 'input' }), id: 'ShipmentEvent' });
  const events = z
    .array(z.union([anyEvent, z.unknown()]))
    .min(1, 'must have at least one event')
    .max(maxEvents, `must have at most ${maxEvents} events`);
  return [
    route({
      method: 'post',
      path: '/operator/v1/shippers',
      summary: 'Register a shipper',
      operationId: 'createShipper',
      tag: 'Operator',
      responses: { 201: registeredShipper },
      auth: 'operator',
      body: z.object({
        name: described(z.string().trim().min(1, 'must not be empty').max(1_000), 'Its name.', 'Acme Books', {
          pattern: notBlank,
        }),
      }),
      handle: async ({ caller, body }) => ({
        httpStatus: 201,
        data: await registerShipper(db, actorOf(caller), body.name),
      }),
    }),
    route({
      method: 'post',
      path: '/operator/v1/shippers/:shipperId/users',
      summary: 'Register a user of a shipper',
      operationId: 'createUser',
      tag: 'Operator',
      description: 'With a password, or with a link on which the user sets one.',
      responses: { 201: registeredUser },
      errors: { 409: 'The shipper already has a user with this e-mail address.' },
      slowByDesign: true,
      auth: 'operator',
      params: z.object({ shipperId: idInPath('The shipper.') }),
      body: z.object({
        email: described(
          z.string().regex(z.regexes.email, 'must be an e-mail address').max(254),
          'E-mail address.',
          'ana@example.com',
        ),
        password: password.optional(),
      }),
      handle: async ({ caller, params: { shipperId }, body }) => {
        if (!isUuid(shipperId)) throw notFound('This shipper');
        const user = { shipperId, ...body };
        return { httpStatus: 201, data: await registerUser(db, deps.publicUrl(), actorOf(caller), user) };
      },
    }),
    route({
      method: 'post',
      path: '/operator/v1/users/:userId/password-link',
      summary: 'Make a link on which a user sets a password',
      operationId: 'createPasswordLink',
      tag: 'Operator',
      description: 'Good for one use and 24 hours. Earlier links stay good until one of them is used.',
      responses: { 201: passwordLink },
      auth: 'operator',
      params: z.object({ userId: idInPath('The user.') }),
      handle: async ({ caller, params: { userId } }) => {
        if (!isUuid(userId)) throw notFound('This user');
        const setPasswordUrl = await newPasswordLink(db, deps.publicUrl(), actorOf(caller), userId);
        return { httpStatus: 201, data: { setPasswordUrl } };
      },
    }),
    route({
      method: 'post',
      path: '/operator/v1/shipments/:trackingId/events',
      summary: 'Record a state event of a shipment',
      operationId: 'recordEvent',
      tag: 'Operator',
      description: 'The state, its event and all deliveries owed for it are committed together.',
      responses: { 202: recordedEvent },
      errors: {
        409: 'The shipment cannot change to this state (the message says to which it can), or the `eventId` was used for another event.',
      },
      auth: 'operator',
      scope: 'events',
      params: z.object({ trackingId }),
      headers: z.object(traceHeaders),
      body: z.object(fields),
      handle: async ({ params: { trackingId }, body }, raw) => {
        if (trackingId.includes('\0')) throw notFound('This shipment');
        const result = await traced(deps.tracing, raw, (trace) =>
          deps.recordEvent(toEvent(trackingId, body, trace)),
        );
        if (result instanceof ApiError) throw result;
        return { httpStatus: 202, data: result };
      },
    }),
    route({
      method: 'post',
      path: '/operator/v1/events',
      summary: 'Record many state events',
      operationId: 'recordEvents',
      tag: 'Operator',
      description:
        'Valid events are recorded in the given order; the others are refused one by one, each with its reason.',
      responses: { 202: recordedEvents },
      auth: 'operator',
      scope: 'events',
      headers: z.object(traceHeaders),
      body: z.object({ events }),
      handle: async ({ body }, raw) => {
        const parsed = body.events.map((event) => bulkEvent.safeParse(event));
        const results = await traced(deps.tracing, raw, (trace) =>
          deps.recordEvents(
            parsed.flatMap(({ data }) => (data ? [toEvent(data.trackingId, data, trace)] : [])),
          ),
        );
        const recorded = results.values();
        // Only valid events were recorded; there is one result per event, in order.
        const views = parsed.map((event) =>
          event.success
            ? (recorded.next().value as RecordResult)
            : invalidRequest(event.error.issues.map(detailOf)),
        );
        return { httpStatus: 202, data: { results: views.map(resultView) } };
      },
    }),
    route({
      method: 'get',
      path: '/operator/v1/status',
      summary: 'How the service is doing',
      operationId: 'getStatus',
      tag: 'Operator',
      description:
        'Queues, lag, deliveries owed to webhooks that are not called, open circuits, replays and versions. A queue that cannot be read has its error instead.',
      responses: { 200: statusResponse },
      auth: 'operator',
      handle: async () => ({ data: await deps.status() }),
    }),
  ];
}
