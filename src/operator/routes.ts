import * as z from 'zod';
import { actorOf } from '../accounts/audit/audit.js';
import { newPasswordLink, registerShipper, registerUser } from '../accounts/register.js';
import { password } from '../accounts/passwords/password-page.js';
import type { NewEvent, RecordResult } from '../events/record.js';
import { described } from '../http/described.js';
import { anyJson, idInPath, milliseconds, notBlank, trackingId } from '../http/request/fields.js';
import { isUuid } from '../http/request/paging.js';
import { detailOf, route, type Route } from '../http/route.js';
import { ApiError, invalidRequest, notFound } from '../platform/errors.js';
import type { Database } from '../platform/database/postgres.js';
import * as answers from './answers.js';

export interface OperatorDependencies {
  db: Database;
  publicUrl(): string;
  /** States an event may name. */
  knownStates: ReadonlySet<string>;
  recordEvent(event: NewEvent): Promise<RecordResult>;
  recordEvents(events: NewEvent[]): Promise<RecordResult[]>;
  status(): Promise<object>;
}

const lastMomentMs = 253_402_300_799_999; // the end of the year 9999
const maxEvents = 1_000;

const eventFields = (knownStates: ReadonlySet<string>) => ({
  state: described(
    z.string().refine((state) => knownStates.has(state), `must be one of ${[...knownStates].join(', ')}`),
    'State the shipment comes to.',
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
  timestamp: milliseconds('When it happened, in milliseconds since 1970; without it now.')
    .max(lastMomentMs)
    .optional(),
  lat: described(z.number().min(-90).max(90).nullish(), 'Latitude in degrees.', 20.6767),
  lng: described(z.number().min(-180).max(180).nullish(), 'Longitude in degrees.', -103.3475),
  anomalies: anyJson('Sent along as it is.', null).optional(),
  evidences: described(z.array(z.unknown()), 'Sent along as it is.', []).optional(),
});

type EventFields = z.output<z.ZodObject<ReturnType<typeof eventFields>>>;

const toEvent = (trackingId: string, { eventId, timestamp, ...fields }: EventFields): NewEvent => ({
  ...fields,
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

/** The operator API of contract, section 6. */
export function operatorRoutes(deps: OperatorDependencies): Route[] {
  const { db } = deps;
  const fields = eventFields(deps.knownStates);
  const bulkEvent = z.object({ trackingId, ...fields });
  // Each is validated by itself, so that one that is not valid does not keep the others out.
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
      answers: { 201: answers.shipper },
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
      description: 'With a password, or with the link at which the user sets one.',
      answers: { 201: answers.user },
      errors: { 409: 'The shipper has a user with this e-mail address already.' },
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
      summary: 'Make a link at which a user sets a password',
      operationId: 'createPasswordLink',
      tag: 'Operator',
      description: 'Good for one use and 24 hours. Earlier links stay good until one of them is used.',
      answers: { 201: answers.passwordLink },
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
      description: 'The state, its event and all notifications owed for it are committed together.',
      answers: { 202: answers.recorded },
      errors: {
        409: 'The shipment cannot change to this state (the message says to which it can), or the `eventId` was used for another event.',
      },
      auth: 'operator',
      scope: 'events',
      params: z.object({ trackingId }),
      body: z.object(fields),
      handle: async ({ params: { trackingId }, body }) => {
        if (trackingId.includes('\0')) throw notFound('This shipment');
        const result = await deps.recordEvent(toEvent(trackingId, body));
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
        'Those that are valid are recorded, in the order given; the others are refused one by one, each with its reason.',
      answers: { 202: answers.recordedMany },
      auth: 'operator',
      scope: 'events',
      body: z.object({ events }),
      handle: async ({ body }) => {
        const parsed = body.events.map((event) => bulkEvent.safeParse(event));
        const valid = parsed.flatMap(({ data }) => (data ? [toEvent(data.trackingId, data)] : []));
        const recorded = (await deps.recordEvents(valid)).values();
        // One result per event, in order; what is not valid was not recorded.
        const results = parsed.map((event) =>
          event.success
            ? (recorded.next().value as RecordResult)
            : invalidRequest(event.error.issues.map(detailOf)),
        );
        return { httpStatus: 202, data: { results: results.map(resultView) } };
      },
    }),
    route({
      method: 'get',
      path: '/operator/v1/status',
      summary: 'How the service is doing',
      operationId: 'getStatus',
      tag: 'Operator',
      description:
        'Queues, lag, what is owed to webhooks that are not called, which circuits are open, replays and versions. A part that is away says so.',
      answers: { 200: answers.status },
      auth: 'operator',
      handle: async () => ({ data: await deps.status() }),
    }),
  ];
}
