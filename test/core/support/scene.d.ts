import type { Claim } from '../../../src/deliveries/outbox/types.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { type World } from './world.js';
/**
 * One webhook in the middle of everything: a shipment that failed with two states behind it, one of which a state is
 * being sent by a worker that seems to be dead, one of which the first state failed for good and the next waits for its
 * retry, one that is due, and one that it missed because it was registered later.
 */
export interface Scene {
    world: World;
    webhookId: string;
    failing: string;
    sending: string;
    failed: string;
    due: string;
    missed: string;
    claims: Claim[];
    /** What was owed and what was finished at the beginning. */
    deliveryIds: string[];
}
export declare function setScene(world: World, options?: {
    supersede?: boolean;
}): Promise<Scene>;
/** Something that is done to the scene: the statement that touches the outbox is called `statement`. */
export interface Deed {
    statement: string;
    run(db: Database, scene: Scene): Promise<unknown>;
}
/** Everything that writes rows of the outbox which others may write at the same time. */
export declare const deeds: Record<string, Deed>;
