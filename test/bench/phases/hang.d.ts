import type { Phase } from './phase.js';
/** One receiver takes requests and never answers: what the others notice. */
export declare const hang: Phase;
