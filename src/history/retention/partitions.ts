import type { Database } from '../../platform/database/postgres.js';

export interface Partition {
  table: string;
  fromMs: number;
  untilMs: number;
}

const dayMs = 86_400_000;
const log = ['deliveries', 'attempts'];
const partitioned = [...log, 'events'];

export async function readPartitions(db: Database): Promise<Partition[]> {
  const rows = await db.query<{ table: string; date: string }>(
    'read-partitions',
    `select p.relname as "table", substring(c.relname from '_([0-9]{6}|[0-9]{8})$') as date
       from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
      where i.inhparent = any($1::text[]::regclass[]) and c.relname ~ '_([0-9]{6}|[0-9]{8})$'`,
    [partitioned],
  );
  return rows.map(({ table, date }) => ({ table, ...spanOf(date) }));
}

/** `YYYYMMDD` is a day, `YYYYMM` a month (UTC). */
function spanOf(date: string): Pick<Partition, 'fromMs' | 'untilMs'> {
  const [year, month, day] = [date.slice(0, 4), date.slice(4, 6), date.slice(6)].map(Number) as [
    number,
    number,
    number,
  ];
  const fromMs = Date.UTC(year, month - 1, day || 1);
  return { fromMs, untilMs: day ? fromMs + dayMs : Date.UTC(year, month) };
}

/** For how many days from `nowMs` on there is a partition for every moment, by table; 0 where there is none for now. */
export function daysAhead(partitions: Partition[], nowMs: number): Map<string, number> {
  const lastingMs = new Map(partitioned.map((table) => [table, nowMs]));
  for (const { table, fromMs, untilMs } of [...partitions].sort((a, b) => a.fromMs - b.fromMs)) {
    const lastMs = lastingMs.get(table)!;
    if (fromMs <= lastMs) lastingMs.set(table, Math.max(lastMs, untilMs));
  }
  return new Map([...lastingMs].map(([table, lastMs]) => [table, (lastMs - nowMs) / dayMs]));
}

/** For how many days the oldest partition of the log should have been dropped, by table; 0 while none should. */
export function daysBehind(partitions: Partition[], retentionMs: number, nowMs: number): Map<string, number> {
  const untilMs = (table: string) =>
    partitions.filter((partition) => partition.table === table).map((partition) => partition.untilMs);
  return new Map(log.map((table) => [table, behindDays(Math.min(...untilMs(table)), retentionMs, nowMs)]));
}

/** For how many days what ended at `endMs` should have been gone; 0 while it should not, or there is nothing (Infinity). */
export const behindDays = (endMs: number, retentionMs: number, nowMs: number): number =>
  Math.max(0, (nowMs - retentionMs - endMs) / dayMs);
