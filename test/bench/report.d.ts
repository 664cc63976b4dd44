import type { Details, Measured, Unit } from './figures.js';
/** One run of one case on one system. */
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
/** A load on one form of deployment of one system, over all its runs. */
export interface Row {
    phase: string;
    case: string;
    load: string;
    system: string;
    node: string;
    figures: Summary[];
    /** Of the last run. */
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
    machine: {
        cpu: string;
        cores: number;
    };
    systems: {
        name: string;
        dist: string;
        node: string;
        postgres: string;
        redis: string | null;
    }[];
    ceiling: {
        perSecond: number;
        cpuUs: number;
    } | null;
    rows: Row[];
    failures: Failure[];
}
export declare const machine: () => Report['machine'];
/** The runs of the same load on the same system become one row, with medians and ranges. */
export declare function summarize(runs: Run[], nodeOf: ReadonlyMap<string, string>, ceilingPerSecond: number | null): Row[];
