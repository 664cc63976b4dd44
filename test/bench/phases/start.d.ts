import type { Phase } from './phase.js';
/** From the start of the program to `/readyz`, where the tables are there already. */
export declare const start: Phase;
