import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Details, Measured, Unit } from './figures.js';
import { median } from './percentiles.js';

export interface Run {
  phase: string;
  case: string;
  system: string;
  measured: Measured[];
}

export interface Summary {
  name: string;
  unit: Unit;
  median: number;
  min: number;
  max: number;
  runs: number;
}

/** Over all runs. */
export interface Row {
  phase: string;
  case: string;
  load: string;
  system: string;
  node: string;
  figures: Summary[];
  details?: Details;
}

export interface Failure {
  phase: string;
  case: string;
  system: string;
  message: string;
}

export interface Report {
  startedAt: string;
  machine: { cpu: string; cores: number };
  systems: { name: string; dist: string; node: string; postgres: string; redis: string | null }[];
  ceiling: { perSecond: number; cpuUs: number } | null;
  rows: Row[];
  failures: Failure[];
}

export const machine = (): Report['machine'] => ({
  cpu: /model name\s*: (.+)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown',
  cores: cpus().length,
});

/** The results with medians and ranges. */
export function summarize(
  runs: Run[],
  nodeOf: ReadonlyMap<string, string>,
  ceilingPerSecond: number | null,
): Row[] {
  const groups = new Map<string, { run: Run; loads: Measured[] }>();
  for (const run of runs) {
    run.measured.forEach((measured, place) => {
      // The key has the position, because a load's name may contain measured values.
      const key = [run.phase, run.case, place, run.system].join('\n');
      const group = groups.get(key) ?? { run, loads: [] };
      group.loads.push(measured);
      groups.set(key, group);
    });
  }
  return [...groups.values()].map(({ run, loads }) => {
    const last = loads.at(-1)!;
    const figures = last.figures.map(({ name, unit }) => {
      const found = loads.flatMap((load) => load.figures.filter((one) => one.name === name));
      return summaryOf(name, unit, found.map(({ value }) => value)); // prettier-ignore
    });
    const deliveries = figures.find(({ name }) => name === 'deliveries');
    if (deliveries && ceilingPerSecond !== null)
      figures.splice(1, 0, ofCeiling(deliveries, ceilingPerSecond));
    return {
      phase: run.phase,
      case: run.case,
      load: last.load,
      system: run.system,
      node: nodeOf.get(run.system) ?? '',
      figures,
      ...(last.details && { details: last.details }),
    };
  });
}

const summaryOf = (name: string, unit: Unit, values: number[]): Summary => ({
  name,
  unit,
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
  runs: values.length,
});

function ofCeiling(deliveries: Summary, ceilingPerSecond: number): Summary {
  const percent = (value: number) => (value / ceilingPerSecond) * 100;
  const { median: middle, min, max, runs } = deliveries;
  const name = 'deliveries, of the bare poster';
  return { name, unit: '%', median: percent(middle), min: percent(min), max: percent(max), runs };
}
