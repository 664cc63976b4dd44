import { createHash } from 'node:crypto';
import * as z from 'zod';
import { invalidRequest } from '../../platform/errors.js';
import { countInQuery, described, exampleId } from './fields.js';

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A cursor, in base64url: the 16 bytes of an id, and 5 of a digest of the list and its filters. */
const cursorForm = /^[A-Za-z0-9_-]{28}$/;
const idBytes = 16;

interface Cursor {
  id: string;
  /** The digest of the list and the filters that it continues, in hexadecimal. */
  digest: string;
}

const encodeCursor = ({ id, digest }: Cursor): string =>
  Buffer.from(id.replaceAll('-', '') + digest, 'hex').toString('base64url');

function decodeCursor(text: string): Cursor {
  const hex = Buffer.from(text, 'base64url').toString('hex');
  const id = hex.slice(0, 2 * idBytes).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
  return { id, digest: hex.slice(2 * idBytes) };
}

const digestOf = (list: string, filter: object): string =>
  createHash('sha256')
    .update(JSON.stringify([list, filter]))
    .digest('hex')
    .slice(0, 10);

const exampleCursor = encodeCursor({ id: exampleId, digest: '0a1b2c3d4e' });

const cursorFrom = (field: string, page: string) =>
  described(
    z.string().regex(cursorForm, `must be the ${field} of an earlier response`),
    `\`${field}\` of the previous ${page}.`,
    exampleCursor,
  )
    .transform(decodeCursor)
    .optional();

/** `limit` and `cursor` of every list. The cursor encodes the last id of the previous page. */
export const paging = {
  limit: countInQuery('Maximum number of items in the page.', 50, 250),
  cursor: cursorFrom('nextCursor', 'page'),
};

export const attemptsCursor = cursorFrom('nextAttemptsCursor', 'page of attempts');

/**
 * A page of a list. It takes only cursors of the same `list`, which names its owner, too, with the same filters, and
 * throws INVALID_REQUEST at `path` for any other. Read `rows` after the id `after`; `cut` makes the page of them.
 */
export function pageOf<Filter extends object>(
  list: string,
  { limit, cursor, ...filter }: { limit: number; cursor?: Cursor | undefined } & Filter,
  path = 'cursor',
) {
  const digest = digestOf(list, filter);
  if (cursor && cursor.digest !== digest)
    throw invalidRequest([
      {
        path,
        message: 'belongs to another list or other filters; send the same filters, or leave the cursor out',
      },
    ]);
  return {
    filter,
    after: cursor?.id,
    rows: limit + 1,
    /** `nextCursor` is null at the end. `readUpTo` is the last id read if the search stopped before the page was full. */
    cut<Row>(rows: Row[], idOf: (row: Row) => string, readUpTo: string | null = null) {
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? idOf(page.at(-1)!) : readUpTo;
      return { page, nextCursor: last === null ? null : encodeCursor({ id: last, digest }) };
    },
  };
}

/** A path with a malformed id names nothing: 404 rather than 400. */
export const isUuid = (text: string): boolean => uuidForm.test(text);
