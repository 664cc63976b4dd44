import * as z from 'zod';
import { duration } from '../../platform/duration.js';
import { described } from '../described.js';

const exampleId = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const exampleMoment = '2026-11-21T12:00:00+00:00';
const exampleTrackingId = 'PH1M7YZMHG0R8EB1NC38';

/** Fields that many requests and answers share, as the API's document shows them. */
export const uuid = (description: string) => described(z.uuid(), description, exampleId);

export const moment = (description: string) =>
  described(z.iso.datetime({ offset: true }), description, exampleMoment);

export const milliseconds = (description: string) =>
  described(z.int().min(0), description, Date.parse(exampleMoment));

export const trackingId = described(
  z.string(),
  "The service's identifier of the shipment.",
  exampleTrackingId,
);

/** Any JSON; what JavaScript or PostgreSQL could stumble over was refused when the body was read. */
export const anyJson = (description: string, example: unknown) =>
  described(z.unknown(), description, example);

/** Of a text that is trimmed and must not be empty then, for the document. */
export const notBlank = '^[^\\u0000]*[^\\s\\u0000\\uFEFF][^\\u0000]*$';

/** Of a body that must have one of these fields, for the document: not every name is another one. */
export const oneOfFields = (names: string[]) => ({ not: { propertyNames: { not: { enum: names } } } });

/** The shipper's own identifier of orders, in a query. */
export const ownIdInQuery = (description: string) =>
  described(
    z
      .string()
      .trim()
      .min(1, 'must not be empty')
      .max(1_000, 'must have at most 1,000 characters')
      .refine((text) => !text.includes('\0'), 'must not contain U+0000'),
    description,
    'ORDER-1001',
    { pattern: notBlank },
  ).optional();

/** How long what was before a rotation is good, parsed to milliseconds: a day unless it is said. */
export const overlap = (description: string) =>
  described(z.string(), description, '24h', {
    pattern: '^(?:0s|[1-9]\\d{0,5}s|[1-9]\\d{0,3}m|[1-9]\\d?h|[12]?\\dd|30d)$',
  })
    .default('24h')
    .pipe(duration({ minMs: 0, maxMs: 30 * 86_400_000 }));

/**
 * An id in a path or a query, in the case in which ids are stored. Any text passes: what has not the form of an id
 * names nothing, which is 404 rather than 400.
 */
export const idInPath = (description: string) =>
  described(z.string().toLowerCase(), description, exampleId, { format: 'uuid' });

/** Of a refinement of a whole object: it looks also where a field is wrong already, so that one answer names all. */
export const evenIfFieldsAreWrong = {
  when: ({ value }: { value: unknown }) =>
    typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** What is wrong with a request, field by field. */
export const details = described(
  z
    .array(
      z.object({
        path: described(z.string(), 'The field or parameter.', 'package.weight'),
        message: described(z.string(), 'What would be right.', 'must be greater than 0'),
      }),
    )
    .optional(),
  'Every wrong field of what is not valid.',
);

/** Of a list. */
export const nextCursor = described(
  z.string().nullable(),
  'Send it as `cursor` for the next page; null at the end.',
  null,
);
