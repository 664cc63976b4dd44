import type { Answer } from '../client.js';
import type { Stop } from './model.js';
import type { World } from './world.js';
/**
 * In the middle of it all one webhook is deleted and another paused and resumed, whatever else happens: asked again
 * until it is answered with 2xx. Nothing may be sent to them after those answers.
 */
export declare function stopSome({ accounts, hooks }: World, pausedMs: number): Promise<Stop[]>;
/** Asks until it is answered with 2xx, or a status that is fine too. A DELETE whose answer was lost is answered with 404 the next time. */
export declare function untilDone(ask: () => Promise<Answer>, alsoFine?: number[]): Promise<void>;
