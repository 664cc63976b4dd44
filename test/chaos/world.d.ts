import { type Account } from '../client.js';
import { type DnsServer } from '../dns-server.js';
import { type Clocks } from './clock.js';
import { type Engines, type Needs } from './deployment.js';
import type { Entry, Hook, LoggedAttempt } from './model.js';
import { type ApiSettings, type Service } from './service.js';
/** A deployment on engines of its own, and all a fault may do to it. */
export interface World extends Engines {
    service: Service;
    clocks: Clocks | null;
    accounts: Account[];
    hooks: Hook[];
    /** Silent about names that begin with `dead-`; all others are this machine. */
    dns: DnsServer;
    journal(): Entry[];
    log(): Promise<LoggedAttempt[]>;
    stop(): Promise<void>;
}
export interface WorldOptions {
    queue: string;
    needs: Needs;
    workers: number;
    seed: number;
    /** Each webhook has a name of its own, and each notification needs a connection, and a lookup, of its own. */
    byName: boolean;
    api: ApiSettings | undefined;
}
/** Null where Redis is asked for and none is installed. */
export declare function startWorld(options: WorldOptions): Promise<World | null>;
