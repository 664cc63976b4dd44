/** What a look at PostgreSQL's transactions shows. */
export interface Transactions {
  /** All from this one on began, or end, after the look. */
  next: bigint;
  /** All before this one had ended. */
  oldest: bigint;
  /**
   * Those that may write `events`, by the low 32 bits of their ids; null where one has no id yet, or none that shows
   * already.
   */
  writers: (bigint | null)[];
}

const cycle = 1n << 32n;

/**
 * The first transaction that may still commit events: all before it have ended, and whoever looks at the table after
 * this look sees what they have recorded.
 */
export function horizonOf({ next, oldest, writers }: Transactions): bigint {
  const ids = writers.map((low) => {
    if (low === null) return oldest;
    const behind = (((next - low) % cycle) + cycle) % cycle;
    return behind < cycle / 2n ? next - behind : next; // ahead of the look
  });
  return ids.reduce((first, id) => (id < first ? id : first), next);
}
