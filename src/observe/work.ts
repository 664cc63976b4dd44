import { requireWritable, type Database } from '../platform/database/postgres.js';

const some = (rows: string) => `exists (select from ${rows})`;

/** Each look says whether the background tasks may have work of that kind. It reads the first entry of an index. */
const looks = {
  owed: some('outbox'),
  orders: some('orders_to_create'),
  redeliveries: some('redeliveries'),
  replays: some(`replays where status = 'RUNNING' or withdrawing`),
  simulations: some('simulations'),
  circuits: some('circuits where failing_since is not null or open_until is not null'),
  parking: `${some('outbox')} and (${some('circuits where open_until is not null')}
    or ${some(`webhooks where deleted_at is null and (status <> 'ACTIVE' or suspended)`)})`,
  removals: some(`shippers where status = 'REMOVED'`),
  counts: some('attempt_counts'),
};

export type Work = keyof typeof looks;

/** Assumed while PostgreSQL cannot be asked. */
export const anyWork = new Set(Object.keys(looks)) as ReadonlySet<Work>;

const columns = Object.entries(looks).map(([work, look]) => `${look} as ${work}`);

/** Rejects on a server that is read-only: after a failover the old one knows of no new work. */
export async function findWork(db: Database): Promise<ReadonlySet<Work>> {
  const [found] = await db.query<Record<Work | 'readOnly', boolean>>(
    'find-work',
    `select ${columns.join(', ')}, current_setting('transaction_read_only')::boolean as "readOnly"`,
  );
  if (found!.readOnly) await requireWritable(db); // makes the pool close its connections
  return new Set([...anyWork].filter((work) => found![work]));
}
