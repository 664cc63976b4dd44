import { type World } from './world.js';
/** What is stranded the sweeper finds on its page. */
export declare function expectSweeperFindsStranded(world: World): Promise<void>;
/** How often the outbox and the log together hold what an event owes to a webhook, where that is not once. */
export declare const notOnce: ({ sql }: World, webhookIds: string[], shipmentIds: string[]) => Promise<{
    sequence: number;
    webhook_id: string;
    copies: number;
}[]>;
/** Each event of the shipments is owed to, or logged for, each of the webhooks exactly once. */
export declare function expectEachOnce(world: World, webhookIds: string[], shipmentIds: string[]): Promise<void>;
/** What was owed or logged then is so now, each once. */
export declare function expectStillThere({ sql }: World, deliveryIds: string[]): Promise<void>;
/** Every row is in a form that means something: what waits is not due, what is being sent has a lease. */
export declare function expectSoundRows(world: World): Promise<void>;
/** Of each shipment of an ordered webhook one state at most may go at a time. */
export declare function expectOneAtATime(world: World): Promise<void>;
