import * as z from 'zod';
import { described } from './fields.js';

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The 16 bytes of an id in base64url. */
const cursorForm = /^[A-Za-z0-9_-]{21}[AQgw]$/;
const toCursor = (id: string): string => Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
const idOfCursor = (cursor: string): string =>
  Buffer.from(cursor, 'base64url')
    .toString('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');

const exampleCursor = toCursor('0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b');

/** `limit` and `cursor` of every list (contract, section 2). The cursor encodes the last id of the previous page. */
export const paging = {
  limit: described(z.string(), 'Maximum number of items in the page.', 50, {
    type: 'integer',
    minimum: 1,
    maximum: 250,
  })
    .default('50')
    .meta({ default: 50 })
    .transform((text) => (/^\d{1,3}$/.test(text) ? Number(text) : 0))
    .refine((n) => n >= 1 && n <= 250, 'must be a whole number from 1 to 250'),
  cursor: described(
    z.string().regex(cursorForm, 'must be the nextCursor of an earlier response'),
    '`nextCursor` of the previous page.',
    exampleCursor,
  )
    .transform(idOfCursor)
    .optional(),
};

/**
 * Cuts a page of `limit` from rows read with `limit + 1`; `nextCursor` is null at the end. `readUpTo` is the last id
 * read if the search stopped before the page was full.
 */
export function cutPage<Row>(
  rows: Row[],
  limit: number,
  idOf: (row: Row) => string,
  readUpTo: string | null = null,
) {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? idOf(page.at(-1)!) : readUpTo;
  return { page, nextCursor: last === null ? null : toCursor(last) };
}

/** A path with a malformed id names nothing: 404 rather than 400. */
export const isUuid = (text: string): boolean => uuidForm.test(text);
