import type { Logger } from '../logger.js';
import { type Folder } from './folder.js';
import type { Ownership } from './owner.js';
import type { Runner } from './run-as.js';
export interface Server {
    folder: Folder;
    runner: Runner;
    owner: Ownership;
    logger: Logger;
}
/**
 * Resolves when a server on the data folder answers: the one that runs already, whoever started it, or a
 * new one if there is none and we own the folder. With `fixedPort` a new one gets that port or none.
 */
export declare function bringUp(server: Server, fixedPort?: number, signal?: AbortSignal): Promise<{
    port: number;
    password: string;
}>;
/**
 * Restarts the server on the same port whenever it dies and we own it; takes the ownership over when its
 * owner is gone. Does not keep the process alive. Resolves after `signal` is aborted.
 */
export declare function supervise(server: Server, port: number, signal: AbortSignal): Promise<void>;
