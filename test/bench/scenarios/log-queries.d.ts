import type { Account } from '../../client.js';
import type { LogOwner } from './log-fill.js';
import type { Bench } from './scenario.js';
export interface LogQuery {
    name: string;
    account: Account;
    query: string;
}
export interface LogShipper {
    owner: LogOwner;
    account: Account;
}
/** Every filter by itself, every two of them together, and pages further back. */
export declare function queriesOf(bench: Bench, shippers: LogShipper[], daysBack: number): Promise<LogQuery[]>;
