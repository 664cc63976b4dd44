import * as z from 'zod';
import { described } from '../../http/described.js';
import type { Database } from '../../platform/database/postgres.js';
import { sentHeaders } from '../send/kept-headers.js';

export interface Attempt {
  number: number;
  trigger: string;
  startedAt: Date;
  durationMs: number | null;
  statusCode: number | null;
  errorCode: string | null;
  errorDetail: string | null;
  /** As sent, but for the values of the webhook's own. */
  requestHeaders: Record<string, string> | null;
  responseBody: string | null;
}

/** As it is read: `startedAt` is text where it comes as JSON, of the headers there is what is kept. */
export type AttemptRow = Omit<Attempt, 'startedAt' | 'requestHeaders'> & {
  startedAt: Date | string;
  requestHeaders: string | null;
};

/** What is told by attempts. Where it was erased since, its headers are not shown. */
export interface ToldEvent {
  eventId: string;
  sequence: number;
  body: string;
  isErased: boolean;
}

export function attemptOf(row: AttemptRow, event: ToldEvent): Attempt {
  const startedAt = new Date(row.startedAt);
  const { number, requestHeaders } = row;
  return {
    ...row,
    startedAt,
    requestHeaders: event.isErased ? null : sentHeaders(requestHeaders, { number, startedAt }, event),
  };
}

/** Attempts that a page has. A delivery may have any number: it is replayed, and sent again by hand. */
const attemptsPerPage = 100;

/** Stands for the number of the last attempt of the page before. */
export const attemptsCursor = described(
  z.string().regex(/^[1-9]\d{0,8}$/, 'must be the nextAttemptsCursor of an earlier answer'),
  '`nextAttemptsCursor` of the page of attempts before.',
  '101',
)
  .transform(Number)
  .optional();

/** Cuts a page from attempts read with one more than it has; the newest come first. */
export function cutAttempts<Row extends { number: number }>(rows: Row[]) {
  const attempts = rows.slice(0, attemptsPerPage);
  const last = rows.length > attemptsPerPage ? attempts.at(-1) : undefined;
  return { attempts, nextAttemptsCursor: last ? String(last.number) : null };
}

/**
 * Attempts of delivery $2 of shipper $1 that are over, the newest first, one more than a page: those before the last,
 * and the last one of what is finished. `before` is a parameter with the number they are below, or null.
 */
export const attemptsText = (before: string) => `
  select number, trigger, started_at as "startedAt", duration_ms as "durationMs", status_code as "statusCode",
         error_code as "errorCode", error_detail as "errorDetail", request_headers as "requestHeaders", response_body as "responseBody"
    from (
      (select number, trigger, started_at, duration_ms, status_code, error_code, error_detail, response_body,
              request_headers
         from attempts where delivery_id = $2 and shipper_id = $1 and number < coalesce(${before}::int, 1000000000)
        order by number desc limit ${attemptsPerPage + 1})
      union all
      select attempt_count, trigger, started_at, duration_ms, status_code, error_code, error_detail, response_body,
             request_headers
        from deliveries
       where shipper_id = $1 and delivery_id = $2 and started_at is not null
         and attempt_count < coalesce(${before}::int, 1000000000)
    ) a order by number desc limit ${attemptsPerPage + 1}`;

/** The newest attempt that is over, of a delivery that tells `event`. */
export async function findLastAttempt(
  db: Database,
  shipperId: string,
  deliveryId: string,
  event: ToldEvent,
): Promise<Attempt | null> {
  const [row] = await db.query<AttemptRow>('list-attempts', attemptsText('null'), [shipperId, deliveryId]);
  return row ? attemptOf(row, event) : null;
}
