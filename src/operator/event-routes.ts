import * as z from 'zod';
import type { NewEvent, RecordResult } from '../engine/engine.js';
import {
  described,
  limitedJson,
  maxTimeMs,
  milliseconds,
  trackingId,
  details,
} from '../http/request/fields.js';
import { traced, traceHeaders } from '../http/request/trace.js';
import { unknownFieldsOf, withMisspelt } from '../http/request/unknown-fields.js';
import { recordedEvent } from '../shipments/responses.js';
import { besides, detailOf, operatorRoute, type Route } from '../http/route.js';
import type { TraceContext, Tracing } from '../platform/telemetry/tracing.js';
import { ApiError, invalidRequest, notFound, type Detail } from '../platform/errors.js';
import { oneOf } from '../platform/issues.js';

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
    results: described(
      z.array(z.union([recordedEvent, refusedEvent])),
      'One result for each event, in order.',
    ),
  })
  .meta({ description: 'The result of each event.' });

const maxEvents = 1_000;

/** The years 2001 to 2100 in seconds; in milliseconds it is early 1970. */
const looksLikeSeconds = (ms: number) => ms >= 978_307_200 && ms < 4_102_444_800;

const eventFields = (knownStates: ReadonlySet<string>, itemsLimit: number) => ({
  state: described(
    z.string().refine((state) => knownStates.has(state), {
      error: ({ input }) => oneOf([...knownStates], input),
    }),
    'The new state of the shipment.',
    [...knownStates][1] ?? [...knownStates][0],
    { enum: [...knownStates] },
  ),
  eventId: described(
    z
      .string()
      .regex(
        /^[\x21-\x2d\x2f-\x7e]{1,255}$/,
        'must be 1 to 255 printable ASCII characters, without spaces or full stops',
      ),
    'Your own identifier: makes it safe to send the event again.',
    'scan-20261121-0001',
  ).optional(),
  timestamp: milliseconds('When it happened, in milliseconds since 1970, not seconds. Default: now.')
    .refine((ms) => !looksLikeSeconds(ms), 'must be milliseconds since 1970; this looks like seconds')
    .max(maxTimeMs)
    .optional(),
  lat: described(z.number().min(-90).max(90).nullish(), 'Latitude in degrees.', 19.427),
  lng: described(z.number().min(-180).max(180).nullish(), 'Longitude in degrees.', -99.1677),
  anomalies: limitedJson(z.unknown(), 'Passed on unchanged.', null, itemsLimit).optional(),
  evidences: limitedJson(z.array(z.unknown()), 'Passed on unchanged.', [], itemsLimit).optional(),
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

/** The place of the event, and the field within it. */
const pathOfEvent = /^events\[(\d+)\]\.?(.*)$/s;

/** By the place of the event; each path is the field's within it. */
function detailsByEvent(itemDetails: Detail[]): Map<number, Detail[]> {
  const found = new Map<number, Detail[]>();
  for (const { path, message } of itemDetails) {
    const [, index, field] = pathOfEvent.exec(path)!;
    found.set(Number(index), [...(found.get(Number(index)) ?? []), { path: field || 'body', message }]);
  }
  return found;
}

export function eventRoutes(deps: {
  knownStates: ReadonlySet<string>;
  itemsLimit: number;
  recordEvent(event: NewEvent): Promise<RecordResult>;
  recordEvents(events: NewEvent[]): Promise<RecordResult[]>;
  tracing: Tracing;
}): Route[] {
  const fields = eventFields(deps.knownStates, deps.itemsLimit);
  const bulkEvent = z.object({ trackingId, ...fields });
  const unknownFields = unknownFieldsOf(bulkEvent);
  // Events are validated one by one, so that an invalid one does not block the others.
  const anyEvent = z.unknown().meta({ ...z.toJSONSchema(bulkEvent, { io: 'input' }), id: 'ShipmentEvent' });
  const events = z
    .array(anyEvent)
    .min(1, 'must have at least one event')
    .max(maxEvents, `must have at most ${maxEvents} events`);
  return [
    operatorRoute({
      method: 'post',
      path: '/operator/v1/shipments/:trackingId/events',
      summary: 'Record a state event of a shipment',
      operationId: 'recordEvent',
      description: 'Commits the state, its event and all deliveries owed for it together.',
      responses: { 202: recordedEvent },
      errors: {
        409: 'The shipment cannot change to this state (the message says to which it can), or the `eventId` was used for another event.',
      },
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
    operatorRoute({
      method: 'post',
      path: '/operator/v1/events',
      summary: 'Record many state events',
      operationId: 'recordEvents',
      description:
        'Records the valid events in the given order, and refuses the others one by one, each with a reason.',
      responses: { 202: recordedEvents },
      scope: 'events',
      headers: z.object(traceHeaders),
      body: z.object({ events }),
      knownBody: z.object({ events: z.array(bulkEvent) }),
      items: pathOfEvent,
      handle: async ({ body }, raw) => {
        const unreadable = detailsByEvent(raw.itemDetails);
        const parsed = body.events.map((event, index) => {
          const { data, error } = bulkEvent.safeParse(event);
          const details = besides(unreadable.get(index) ?? [], error?.issues.map(detailOf) ?? []);
          return { data: details.length === 0 ? data : undefined, details };
        });
        const results = await traced(deps.tracing, raw, (trace) =>
          deps.recordEvents(
            parsed.flatMap(({ data }) => (data ? [toEvent(data.trackingId, data, trace)] : [])),
          ),
        );
        const recorded = results.values();
        // Only valid events were recorded; there is one result per event, in order.
        const views = parsed.map(({ data, details }, index) =>
          data
            ? (recorded.next().value as RecordResult)
            : invalidRequest(withMisspelt(details, unknownFields(body.events[index]))),
        );
        return { httpStatus: 202, data: { results: views.map(resultView) } };
      },
    }),
  ];
}
