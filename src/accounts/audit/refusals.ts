import { networkOf } from '../../http/connections/network.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { append, type Actor, type AuditEntry, type AuditLine } from './audit.js';

export interface Refusals {
  /** Counts a refusal for the audit log. Never waits, never throws. */
  note(actor: Actor, entry: AuditEntry): void;
  /** Writes what is counted. */
  stop(): Promise<void>;
}

const toBlock = (actor: Actor): Actor => ({
  ...actor,
  address: actor.address === null ? null : networkOf(actor.address),
});

const firstAfterMs = 1_000;
const everyMs = 60_000;
/** Lines for one action and kind of actor in one minute; the other refusals are counted together, under no address. */
const toldApart = 10;

/**
 * Refusals come as often as anybody likes, so they are counted and written once a minute: a line for each of the first
 * ten callers, and one for all others; strangers take no line from operators. The first refusal after a quiet minute is
 * written a second later. Refusals that cannot be written are kept for the next minute. For a stranger the log keeps
 * only the address block.
 */
export function createRefusals(db: Database, logger: Logger): Refusals {
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
    if (counted.has(key) || linesOf(actor, entry) < toldApart)
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
      logger.warn({ error: describeError(error) }, 'refusals not in the audit log yet');
      for (const { actor, entry, count: times } of lines) count(actor, entry, times);
      schedule();
    }
  };

  const schedule = () => {
    timer ??= setTimeout(() => void write(), Math.max(firstAfterMs, writtenAt + everyMs - performance.now()));
  };

  return {
    note: (actor, entry) => {
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
