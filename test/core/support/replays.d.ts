import type { Database } from '../../../src/platform/database/postgres.js';
import { type World } from './world.js';
/** Asks for everything that a webhook missed. A deleted one gets no replay. */
export declare function askForReplay(world: World, webhookId: string): Promise<void>;
/** Works replays off, with the turns that follow. */
export declare const advance: (db: Database) => Promise<boolean>;
export declare function replay(world: World, db: Database, webhookId: string): Promise<void>;
