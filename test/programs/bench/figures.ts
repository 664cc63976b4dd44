import { percentiles } from './percentiles.js';

export type Unit = '' | '/s' | 'ms' | 'µs' | 's' | 'B' | 'MB' | '%';

export interface Figure {
  name: string;
  unit: Unit;
  value: number;
}

/** Share of samples in which a session waited, and how many did. `event`: `Lock transactionid`, or a type alone. */
export interface Wait {
  event: string;
  sharePercent: number;
  meanSessions: number;
}

export interface TableUpdates {
  table: string;
  updates: number;
  hotPercent: number;
}

export interface Statement {
  query: string;
  calls: number;
  totalMs: number;
  meanMs: number;
  rows: number;
}

export interface Details {
  waits: Wait[];
  updates: TableUpdates[];
  /** Null if the engine does not count them. */
  statements: Statement[] | null;
}

/** A load on one form of the deployment. */
export interface Measured {
  load: string;
  figures: Figure[];
  details?: Details;
}

export const figure = (name: string, unit: Unit, value: number): Figure => ({ name, unit, value });

export function latencyFigures(name: string, valuesMs: number[]): Figure[] {
  const { p50, p99 } = percentiles(valuesMs);
  return [figure(`${name}, p50`, 'ms', p50), figure(`${name}, p99`, 'ms', p99)];
}
