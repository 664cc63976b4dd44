import type { Logger } from '../../platform/logger.js';
import { type ErasureDependencies } from './erase.js';
export type RetentionDependencies = ErasureDependencies & {
    logger: Logger;
    retentionMs: number;
};
/**
 * A step of the retention: erases shipments whose last state is longer ago than `retentionMs`, some at a time. The walk
 * over what was accepted never turns back; what came to a state since is looked at again when its own time has come. So
 * each shipment is looked at twice at least and a few times at most. A step that breaks off is made again. Returns whether
 * there may be more to do.
 */
export declare function eraseExpired(deps: RetentionDependencies): Promise<boolean>;
