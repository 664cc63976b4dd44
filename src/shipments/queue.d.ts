import { type Logger } from '../platform/logger.js';
import type { Producer } from '../platform/queue/engine.js';
export declare const creationQueueName = "create";
/** Puts accepted orders into the creation queue; resolves when it is there, or was given up: the sweeper finds what is lost. */
export declare function createCreationQueue(producer: Producer, logger: Logger): (shipmentId: string) => Promise<void>;
