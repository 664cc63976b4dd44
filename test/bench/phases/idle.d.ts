import type { Phase } from './phase.js';
/** Nothing to do, after there was something. */
export declare const idle: Phase;
