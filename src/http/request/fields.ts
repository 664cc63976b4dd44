import { duration } from '../../platform/quantity.js';
import { oneOf } from '../../platform/issues.js';
import * as z from 'zod';

/**
 * The schema with its documentation: a description, an example, more JSON Schema keywords. The values it accepts do not
 * change. A schema that transforms is described before its transformation: that is what callers send.
 */
export const described = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example?: unknown,
  keywords: Record<string, unknown> = {},
): Schema => schema.meta({ description, ...(example !== undefined && { examples: [example] }), ...keywords });

export const exampleId = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

const exampleWebhookId = '01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f';

/** The ids in examples, by the name of the field: one shipper, one order, and what became of it. */
export const exampleIds = {
  shipperId: '01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90',
  userId: '01a19b81-3a60-7e3f-9041-5c6d7e8f90a1',
  webhookId: exampleWebhookId,
  webhook_id: exampleWebhookId,
  shipmentId: '01a1fdfa-4600-7a4b-8152-6d7e8f90a1b2',
  eventId: '01a1fdfa-4678-7b5c-9263-7e8f90a1b2c3',
  deliveryId: '01a1fdfa-4678-7b5c-a374-8f90a1b2c3d4',
};

const exampleTime = '2026-11-21T12:00:00+00:00';
const exampleTrackingId = 'PH1M7YZMHG0R8EB1NC38';

export const uuid = (description: string) => described(z.uuid(), description, exampleId);

export const instant = (description: string, example = exampleTime) =>
  described(z.iso.datetime({ offset: true }), description, example);

export const instantOrNull = (description: string) => described(instant('').nullable(), description, null);

export const milliseconds = (description: string) =>
  described(z.int().min(0), description, Date.parse(exampleTime));

export const trackingId = described(
  z.string(),
  "The service's identifier of the shipment.",
  exampleTrackingId,
);

export const isTrackingId = (text: string): boolean => /^[A-Z0-9]{1,64}$/.test(text);

export const trackingIdToFind = trackingId.regex(/^[A-Z0-9]{1,64}$/, 'must be a trackingId');

/** A whole number from 1 in a query. */
export const countInQuery = (description: string, usual: number, max: number) =>
  described(z.string(), description, usual, { type: 'integer', minimum: 1, maximum: max })
    .default(String(usual))
    .meta({ default: usual })
    .transform((text) => (/^\d{1,3}$/.test(text) ? Number(text) : 0))
    .refine((count) => count >= 1 && count <= max, `must be a whole number from 1 to ${max}`);

/** JSON that is stored and passed on as sent, of at most so many bytes. */
export const limitedJson = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: unknown,
  maxBytes: number,
): Schema =>
  described(
    schema.refine(
      (value) => value === undefined || new TextEncoder().encode(JSON.stringify(value)).length <= maxBytes,
      `must have at most ${maxBytes.toLocaleString('en')} bytes as JSON`,
    ),
    `${description} At most ${maxBytes.toLocaleString('en')} bytes as JSON.`,
    example,
  );

/** Any JSON; the body's reader has refused what JavaScript or PostgreSQL could not handle. */
export const anomalies = described(z.unknown(), 'Anomalies reported with the state; null without any.', null);

const isBlank = (given: unknown) => typeof given === 'string' && given.trim() === '';

/** An empty text is the same as none: many clients cannot leave a field out. The schema is described before. */
export const blankIsAbsent = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((given) => (isBlank(given) ? undefined : given), schema.optional()).optional();

/** The same where null means none, and absent that nothing changes. */
export const blankIsNull = <Schema extends z.ZodNullable>(schema: Schema) =>
  z.preprocess((given) => (isBlank(given) ? null : given), schema);

/** The pattern, for the document, of a text that must not be empty after trimming. */
export const notBlank = '^[^\\u0000]*[^\\s\\u0000\\uFEFF][^\\u0000]*$';

/** JSON Schema for a body that must have at least one of these fields: not all of its names may be other ones. */
export const oneOfFields = (names: string[]) => ({ not: { propertyNames: { not: { enum: names } } } });

/** The shipper's own identifier of orders, or its beginning, in a query. */
export const ownIdInQuery = (description: string, maxLength = 1_000) =>
  described(
    z
      .string()
      .trim()
      .min(1, 'must not be empty')
      .max(maxLength, `must have at most ${maxLength.toLocaleString('en')} characters`)
      .refine((text) => !text.includes('\0'), 'must not contain U+0000'),
    description,
    'ORDER-1001',
    { pattern: notBlank },
  ).optional();

export const stateInQuery = (
  names: ReadonlySet<string>,
  description: string,
  statuses: readonly string[] = [],
) =>
  described(
    z.string().refine((name) => names.has(name), {
      error: ({ input }) =>
        statuses.includes(input as string)
          ? `must be a state; ${input as string} is a status: use status=${input as string}`
          : oneOf([...names], input),
    }),
    `${description} The states: ${[...names].map((name) => `\`${name}\``).join(', ')}.`,
    [...names][0],
    { pattern: `^(?:${[...names].join('|')})$` },
  ).optional();

/** How long the previous secret remains valid after a rotation, parsed to milliseconds; default: a day. */
export const overlap = (description: string) =>
  described(z.string(), description, '24h', {
    pattern: '^(?:0s?|[1-9]\\d{0,5}s|[1-9]\\d{0,3}m|[1-9]\\d?h|[12]?\\dd|30d)$',
  })
    .default('24h')
    .pipe(duration({ minMs: 0, maxMs: 30 * 86_400_000 }));

/** An id in a path or a query, in lower case as stored. Any text passes: a malformed id is 404 rather than 400. */
export const idInPath = (description: string) =>
  described(z.string().toLowerCase(), description, exampleId, { format: 'uuid' });

/** Lets a refinement of a whole object also run if a field is wrong, so that one response names all problems. */
export const evenIfFieldsAreWrong = {
  when: ({ value }: { value: unknown }) =>
    typeof value === 'object' && value !== null && !Array.isArray(value),
};

export const details = described(
  z
    .array(
      z
        .object({
          path: described(z.string(), 'The field or parameter.', 'package.weight'),
          message: described(z.string(), 'What would be right.', 'must be greater than 0'),
        })
        .meta({ id: 'WrongField', description: 'An invalid field or parameter.' }),
    )
    .optional(),
  'Every invalid field or parameter.',
);

export const warnings = described(
  z
    .array(
      z
        .object({
          path: described(
            z.string(),
            'The field of the body; `body` in the entry that counts the rest.',
            'lotID',
          ),
          message: described(
            z.string(),
            'What may be wrong: the field was ignored (with the nearest one that exists), or its value may be a mistake.',
            'is not a field of this request and was ignored; did you mean lotId?',
          ),
        })
        .meta({ id: 'Warning', description: 'A field of the body that may be a mistake.' }),
    )
    .optional(),
  'Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many.',
);

export const nextCursor = described(
  z.string().nullable(),
  'Send it as `cursor` for the next page; null at the end.',
  null,
);

/** A day that exists: `2026-02-30` is none, and is not moved to March. */
const dayForm = z.regexes.date.source.slice(1, -1);

const hour = '(?:[01]\\d|2[0-3])';

/**
 * RFC 3339 as widely as clients write it: any number of digits of a second, no seconds, leap seconds, `t` and `z`, and
 * offsets like `+0000` and `+00`. `signs` may begin an offset.
 */
export const momentForm = (signs = '+-') =>
  `${dayForm}[Tt](?:${hour}:[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?(?:[Zz]|[${signs}]${hour}(?::?[0-5]\\d)?)|23:59:60(?:\\.\\d+)?[Zz])`;

const parts = /^(.{10}).(..:..)(:..(?:\.\d{1,3})?)?\d*(?:[Zz]|([+-]..):?(..)?)$/;

/** The form that most clients write, and that Date.parse takes. */
const usual = /^.{10}T.{8}(?:\.\d{1,3})?Z$/;

/** Epoch milliseconds of a text in `momentForm`. Date.parse takes the strict form only, or guesses. */
export function momentMs(text: string): number {
  // A leap second counts as the one after it, which epoch milliseconds do not tell from it.
  if (text.startsWith(':60', 16)) return momentMs(`${text.slice(0, 16)}:59${text.slice(19)}`) + 1_000;
  if (usual.test(text)) return Date.parse(text);
  const [, day, minute, second = ':00', offset = '+00', minutes = '00'] = parts.exec(text)!;
  return Date.parse(`${day}T${minute}${second}${offset}:${minutes}`);
}

/** Checks the form only: the day, the time and the offset may be impossible. */
const looseForm =
  /^(\d{4}-\d\d-\d\d)(?:[Tt](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)([Zz]|[+ -]\d\d(?::?\d\d)?)?)?$/;
const dayThatExists = new RegExp(`^${dayForm}$`);
const timeThatExists = new RegExp(`^${hour}:[0-5]\\d(?::[0-5]\\d|$)`);

/** Says what is wrong with a time that is in no accepted form. */
export function momentProblem(given: unknown, usual: string): string {
  const [, day, time, offset] = (typeof given === 'string' && looseForm.exec(given)) || [];
  if (day === undefined) return usual;
  if (!dayThatExists.test(day)) return `has a day that does not exist: ${day}`;
  if (time === undefined) return usual;
  if (!timeThatExists.test(time))
    return `has a time that does not exist: ${time}; hours go up to 23, minutes and seconds to 59`;
  return offset === undefined ? 'has no offset: add Z or -06:00' : usual;
}

export const maxTimeMs = 253_402_300_799_999;
// A + that was not percent-encoded arrives as a space.
const form = new RegExp(`^(?:\\d{1,15}|${dayForm}|${momentForm('+ -')})$`);
/** The beginning of 2001 in milliseconds: as seconds, the same number is after the year 32000. */
const minTimeMs = 978_307_200_000;
const problem =
  'must be ISO 8601 with an offset (2026-11-21T12:00:00Z), a date (its midnight UTC), or milliseconds';
const seconds = `${problem}; this looks like seconds`;
const text = z
  .string()
  .regex(form, { error: ({ input }) => momentProblem(input, problem) })
  .refine((given) => !isBefore2001(given), seconds)
  .meta({ pattern: form.source.replace('\\d{1,15}', '0|[1-9]\\d{12,14}') });

const isBefore2001 = (given: unknown) =>
  (typeof given === 'number' || (typeof given === 'string' && /^\d{1,15}$/.test(given))) &&
  Number(given) < minTimeMs &&
  Number(given) !== 0; // the same in either unit, and the beginning of everything

/** Clamped to 1970 and the end of the year 9999. */
function toDate(given: string | number): Date {
  const isNumber = typeof given === 'number' || /^\d{1,15}$/.test(given);
  const isDay = !isNumber && given.length === 10;
  const ms = isNumber ? Number(given) : isDay ? Date.parse(given) : momentMs(given.replace(' ', '+'));
  return new Date(Math.min(Math.max(ms, 0), maxTimeMs));
}

const words = (description: string) =>
  `${description}. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).`;

export const instantInQuery = (description: string, example: string) =>
  described(text, words(description), example).transform(toDate).optional();

export const instantInBody = (description: string, example: string) =>
  described(
    z.union(
      [
        text,
        z
          .number()
          .min(0)
          .max(maxTimeMs)
          .refine((given) => !isBefore2001(given), seconds),
      ],
      {
        error: ({ input }) => (isBefore2001(input) ? seconds : momentProblem(input, problem)),
      },
    ),
    words(description),
    example,
  ).transform(toDate);
