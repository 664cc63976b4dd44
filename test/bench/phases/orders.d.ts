import type { Phase } from './phase.js';
/** Orders as fast as clients can hand them over, each notified to all webhooks. */
export declare const orders: Phase;
