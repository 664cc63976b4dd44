import type { Database } from '../database/postgres.js';
import { tooManyRequests } from '../errors.js';
import { createThrottledWarn, type Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';

interface Count {
  /** Days since 1970 (UTC). */
  day: number;
  /** The bytes of all processes, as last reported. */
  total: number;
  unreported: number;
}

const dayMs = 86_400_000;
const reportAfterMs = 2_000;
/** The part of the limit that is reported at once. Each process may overdraw by about as much. */
const reportedShare = 0.01;
const largestShown = 10;

export interface StoredBytesOptions {
  db: Database;
  logger: Logger;
  metrics: Pick<Metrics, 'storedBytes' | 'rateLimited'>;
  /** 0: no limit, and nothing is counted. */
  limit: number;
}

/**
 * Counts what a shipper has the service store in a day (UTC): its orders, their events and the responses of its
 * receivers, whose size it chooses. PostgreSQL has the counts, so all processes share them, and they outlast every
 * process.
 */
export class StoredBytes {
  readonly limit: number;
  readonly #options: StoredBytesOptions;
  readonly #counts = new Map<string, Count>();
  readonly #failed: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #reporting: Promise<void> = Promise.resolve();

  constructor(options: StoredBytesOptions) {
    this.limit = options.limit;
    this.#options = options;
    this.#failed = createThrottledWarn(options.logger, 'stored bytes not counted yet; retrying');
  }

  /** Call it when bytes are stored. It costs a few operations, and waits for nothing. */
  add(shipperId: string, bytes: number): void {
    if (this.limit === 0 || bytes === 0) return;
    const known = this.#counts.get(shipperId);
    const count = known ?? { day: today(), total: 0, unreported: 0 };
    if (!known) this.#counts.set(shipperId, count);
    count.unreported += bytes;
    const isUrgent = !known || count.unreported >= this.limit * reportedShare;
    if (isUrgent || !this.#timer) this.#reportIn(isUrgent ? 0 : reportAfterMs);
  }

  /** Throws ApiError TOO_MANY_REQUESTS if the shipper has reached the limit of its day. */
  require(shipperId: string): void {
    const count = this.#counts.get(shipperId);
    if (!count || count.day !== today() || count.total + count.unreported < this.limit) return;
    this.#options.metrics.rateLimited.inc({ limit: 'stored_bytes' });
    throw tooManyRequests(
      'The orders of this account, with their events and the responses to them, have reached the bytes that may be stored in a day (UTC).',
      ((count.day + 1) * dayMs - Date.now()) / 1_000,
    );
  }

  /** The shippers that have stored the most today. */
  largest(): Promise<{ shipperId: string; name: string; bytes: number }[]> {
    return this.#options.db.query(
      'largest-stored-bytes',
      `select shipper_id as "shipperId", name, bytes::float8 as bytes from stored_bytes join shippers using (shipper_id)
        where day = (now() at time zone 'UTC')::date order by bytes desc, shipper_id limit ${largestShown}`,
    );
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#reporting;
    await this.#report();
  }

  #reportIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#reporting = this.#reporting.then(() => this.#report()).catch(this.#failed);
      this.#timer = undefined;
    }, ms).unref();
  }

  async #report(): Promise<void> {
    const day = today();
    for (const [shipperId, { day: counted, unreported }] of this.#counts)
      if (counted !== day && unreported === 0) this.#counts.delete(shipperId);
    const given = [...this.#counts].flatMap(([shipperId, { unreported: bytes }]) =>
      bytes > 0 ? { shipperId, bytes } : [],
    );
    if (given.length === 0) return;
    const rows = await this.#options.db.query<{ shipperId: string; bytes: number }>(
      'count-stored-bytes',
      `insert into stored_bytes as s (shipper_id, day, bytes)
       select shipper_id, (now() at time zone 'UTC')::date, bytes
         from unnest($1::uuid[], $2::bigint[]) t (shipper_id, bytes) join shippers using (shipper_id)
        order by shipper_id
       on conflict (shipper_id) do update
          set bytes = excluded.bytes + case s.day when excluded.day then s.bytes else 0 end, day = excluded.day
       returning shipper_id as "shipperId", bytes::float8 as bytes`,
      [given.map(({ shipperId }) => shipperId), given.map(({ bytes }) => bytes)],
    );
    const totals = new Map(rows.map(({ shipperId, bytes }) => [shipperId, bytes]));
    for (const { shipperId, bytes } of given) {
      const count = this.#counts.get(shipperId)!;
      count.day = day;
      count.total = totals.get(shipperId) ?? 0;
      count.unreported -= bytes;
      this.#options.metrics.storedBytes.inc(bytes);
    }
  }
}

const today = (): number => Math.floor(Date.now() / dayMs);
