import type { Phase } from './phase.js';
/** States recorded by the operator's API, as fast as a few bulk requests at a time can. */
export declare const events: Phase;
