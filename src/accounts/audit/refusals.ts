import { networkOf } from '../../http/origin.js';
import type { Database } from '../../platform/database/postgres.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import { append, type Actor, type AuditEntry, type AuditLine } from './audit.js';

export type Refusals = ReturnType<typeof createRefusals>;

const toBlock = (actor: Actor): Actor => ({
  ...actor,
  address: actor.address === null ? null : networkOf(actor.address),
});

const firstAfterMs = 1_000;
const everyMs = 60_000;
/** The limit per minute, action and kind of actor; further refusals share one entry without an address. */
const maxEntries = 10;

/**
 * Refusals are written once a minute, because callers can cause any number of them: an entry for each of the first ten
 * callers, and one for all others. Unknown callers take no entry from operators. The first refusal after a quiet minute
 * is written a second later. Refusals that cannot be written are kept for the next minute. Only the address block of an
 * unknown caller is stored.
 */
export function createRefusals(db: Database, logger: Logger) {
  let counted = new Map<string, AuditLine>();
  let timer: NodeJS.Timeout | undefined;
  let writtenAt = -Infinity;

  const add = (key: string, line: AuditLine) => {
    const known = counted.get(key);
    if (known) known.count += line.count;
    else counted.set(key, line);
  };
  const linesOf = ({ kind }: Actor, { action }: AuditEntry) =>
    [...counted.values()].filter(({ actor, entry }) => actor.kind === kind && entry.action === action).length;

  const count = (actor: Actor, entry: AuditEntry, times: number) => {
    const key = JSON.stringify([actor, entry]);
    if (counted.has(key) || linesOf(actor, entry) < maxEntries)
      return add(key, { actor, entry, outcome: 'REFUSED', count: times });
    const others: Actor = { kind: 'UNKNOWN', name: null, address: null };
    const line: AuditLine = {
      actor: others,
      entry: { action: entry.action },
      outcome: 'REFUSED',
      count: times,
    };
    add(entry.action, line);
  };

  const write = async () => {
    timer = undefined;
    if (counted.size === 0) return;
    const lines = [...counted.values()];
    counted = new Map();
    writtenAt = performance.now();
    try {
      await append(db, lines);
    } catch (error) {
      logger.warn(
        { error: describeError(error) },
        'refusals not written to the audit log; retrying in a minute',
      );
      for (const { actor, entry, count: times } of lines) count(actor, entry, times);
      schedule();
    }
  };

  const schedule = () => {
    timer ??= setTimeout(() => void write(), Math.max(firstAfterMs, writtenAt + everyMs - performance.now()));
  };

  return {
    /** Never waits, never throws. */
    note: (actor: Actor, entry: AuditEntry) => {
      count(actor.kind === 'UNKNOWN' ? toBlock(actor) : actor, entry, 1);
      schedule();
    },
    stop: async () => {
      clearTimeout(timer);
      await write();
      clearTimeout(timer);
    },
  };
}
