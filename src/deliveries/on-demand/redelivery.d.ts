import type { Logger } from '../../platform/logger.js';
import type { Producer } from '../../platform/queue/engine.js';
import { type ByHandOptions } from './send-by-hand.js';
export interface Redeliverer {
    /** Claims and sends attempts by hand; resolves when they are under way. What finds no room waits for the sweep. */
    handle(deliveryIds: string[]): Promise<void>;
    /** Takes up what no job came for and whose process is gone. */
    sweep(): Promise<void>;
    drain(): Promise<void>;
}
/**
 * Sends once what was asked for by hand, beside the scheduled attempts: it waits for no turn, takes nothing from
 * the retry schedule and has room of its own, of which one webhook gets a part only.
 */
export declare function createRedeliverer(options: ByHandOptions & {
    orderHoldMs: number;
}): Redeliverer;
/** Makes a worker send attempts by hand at once; without the queue the next sweep does. */
export declare const createRedeliveryQueue: (producer: Producer, logger: Logger) => (deliveryId: string) => void;
