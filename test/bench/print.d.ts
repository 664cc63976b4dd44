import type { Report } from './report.js';
/** The report as tables: a line for each figure, a column for each system, and how many times the other's it is. */
export declare function printReport(report: Report, titles: ReadonlyMap<string, string>): void;
