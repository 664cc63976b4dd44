import { rowSet } from '../../platform/database/parameters.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Settled } from './claim.js';
import type { Settlement } from './types.js';

/** `lost`: the claim was lost meanwhile, and the outcome does not count. */
export type SettlingResult =
  | { kind: 'settled'; /** When it is due again; null if it is finished. */ dueAt: Date | null }
  | { kind: 'alreadySettled' }
  | { kind: 'lost' };

/**
 * Results in the order of the settlements. Refused ones are looked up anew: `settle` did not see what was committed
 * meanwhile.
 */
export async function resultsOf(
  db: Database,
  settlements: Settlement[],
  settled: Map<string, Settled>,
): Promise<SettlingResult[]> {
  const counted = settlements.map(({ deliveryId, number }) => {
    const known = settled.get(deliveryId);
    return known?.number === number ? known : undefined;
  });
  const refused = settlements.filter((_, index) => counted[index] === undefined);
  const recorded = refused.length === 0 ? new Set<Settlement>() : await findRecorded(db, refused);
  return settlements.map((settlement, index): SettlingResult => {
    const known = counted[index];
    if (known) return { kind: 'settled', dueAt: known.dueAt };
    return { kind: recorded.has(settlement) ? 'alreadySettled' : 'lost' };
  });
}

const refusedRows = rowSet<Settlement>({
  shipper_id: ['uuid', ({ shipperId }) => shipperId],
  delivery_id: ['uuid', ({ deliveryId }) => deliveryId],
  number: ['int', ({ number }) => number],
  started_at: ['timestamptz', ({ startedAt }) => startedAt],
});

async function findRecorded(db: Database, refused: Settlement[]): Promise<Set<Settlement>> {
  const rows = await db.query<{ place: number }>(
    'find-recorded',
    `select r.place::int as place
       from ${refusedRows.as('r', 1, 'place')}
      where exists (select 1 from deliveries d
                     where d.shipper_id = r.shipper_id and d.delivery_id = r.delivery_id
                       and d.attempt_count >= r.number and d.started_at = r.started_at)
         or exists (select 1 from attempts a
                     where a.delivery_id = r.delivery_id and a.number = r.number and a.started_at = r.started_at
                       and a.duration_ms is not null)`,
    refusedRows.arrays(refused),
  );
  return new Set(rows.map(({ place }) => refused[place - 1]!));
}
