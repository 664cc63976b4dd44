import type { Closing } from './engines.js';
import type { FailingOver } from './redis-fail-over.js';
/**
 * A PostgreSQL whose commits wait for a standby's disk, reached through a proxy that is pointed at the standby once it
 * has been promoted, as a name or a virtual address would be.
 */
export declare function postgresWithStandby(folder: string, closing: Closing): Promise<FailingOver>;
