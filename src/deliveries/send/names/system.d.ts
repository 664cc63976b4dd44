import type { Query } from './query.js';
/** Asks the machine, which knows the hosts file and search domains. What it does not answer in time has failed. */
export declare function createSystemQuery(): (hostname: string, shipperId: string) => Query;
