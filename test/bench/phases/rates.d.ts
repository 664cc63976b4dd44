import type { Phase } from './phase.js';
/** Loads at a steady rate whatever the answers: what the service is like where it spends most of its life. */
export declare const rates: Phase;
