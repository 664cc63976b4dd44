import { z } from 'zod';
import { newPasswordLink, registerShipper, registerUser } from '../accounts/register.js';
import { password } from '../accounts/password-page.js';
import type { NewEvent, RecordResult } from '../events/record.js';
import { isUuid } from '../http/paging.js';
import { detailOf, route, type Route } from '../http/route.js';
import { ApiError, invalidRequest, notFound } from '../platform/errors.js';
import type { Database } from '../platform/postgres.js';

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
  state: z
    .string()
    .refine((state) => knownStates.has(state), `must be one of ${[...knownStates].join(', ')}`),
  eventId: z
    .string()
    .regex(
      /^[\x21-\x2d\x2f-\x7e]{1,255}$/,
      'must be 1 to 255 printable ASCII characters without space and full stop',
    )
    .optional(),
  timestamp: z.number().int().min(0).max(lastMomentMs).optional(),
  lat: z.number().min(-90).max(90).nullish(),
  lng: z.number().min(-180).max(180).nullish(),
  anomalies: z.json().optional(),
  evidences: z.array(z.json()).optional(),
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
  const bulkEvent = z.object({ trackingId: z.string(), ...fields });
  return [
    route({
      method: 'post',
      path: '/operator/v1/shippers',
      summary: 'Register a shipper',
      auth: 'operator',
      body: z.object({ name: z.string().trim().min(1, 'must not be empty').max(1_000) }),
      handle: async ({ body }) => ({ httpStatus: 201, data: await registerShipper(db, body.name) }),
    }),
    route({
      method: 'post',
      path: '/operator/v1/shippers/:shipperId/users',
      summary: 'Register a user of a shipper',
      auth: 'operator',
      params: z.object({ shipperId: z.string() }),
      body: z.object({ email: z.email('must be an e-mail address').max(254), password: password.optional() }),
      handle: async ({ params: { shipperId }, body }) => {
        if (!isUuid(shipperId)) throw notFound('This shipper');
        return { httpStatus: 201, data: await registerUser(db, deps.publicUrl(), { shipperId, ...body }) };
      },
    }),
    route({
      method: 'post',
      path: '/operator/v1/users/:userId/password-link',
      summary: 'Make a link at which a user sets a password',
      auth: 'operator',
      params: z.object({ userId: z.string() }),
      handle: async ({ params: { userId } }) => {
        if (!isUuid(userId)) throw notFound('This user');
        return {
          httpStatus: 201,
          data: { setPasswordUrl: await newPasswordLink(db, deps.publicUrl(), userId) },
        };
      },
    }),
    route({
      method: 'post',
      path: '/operator/v1/shipments/:trackingId/events',
      summary: 'Record a state event of a shipment',
      auth: 'operator',
      params: z.object({ trackingId: z.string() }),
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
      auth: 'operator',
      body: z.object({
        events: z
          .array(z.unknown())
          .min(1, 'must have at least one event')
          .max(maxEvents, `must have at most ${maxEvents} events`),
      }),
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
      auth: 'operator',
      handle: async () => ({ data: await deps.status() }),
    }),
  ];
}
