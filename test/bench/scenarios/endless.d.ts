import type { Scenario } from './scenario.js';
/** A new worker for each figure, warmed by the same load with short answers; the kinds in turn. */
export declare const endless: Scenario;
