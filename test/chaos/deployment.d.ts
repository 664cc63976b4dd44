import { type Disk } from './disk.js';
import { type Closing, type PostgresEngine, type RedisEngine } from './engines.js';
import { type Proxy } from './proxied.js';
import { type FailingOver } from './redis-fail-over.js';
/** What a fault needs its deployment to be, besides the usual. */
export interface Needs {
    /** The data of each engine on a small disk of its own. */
    disks?: boolean;
    /** A proxy before each engine. */
    proxies?: boolean;
    /** Wall clocks of the service that can be set. */
    clocks?: boolean;
    /** An engine that another one takes over from. */
    failOver?: 'cluster' | 'sentinel' | 'standby';
}
type PerEngine<Thing> = {
    postgres?: Thing;
    redis?: Thing;
};
/** What the service runs on, and what can be done to it: what is null is not there. */
export interface Engines {
    databaseUrl: string;
    redisUrl: string | undefined;
    sql<Row>(text: string, values?: unknown[]): Promise<Row[]>;
    postgres: PostgresEngine | null;
    redis: RedisEngine | null;
    proxies: PerEngine<Proxy>;
    disks: PerEngine<Disk>;
    failOver: FailingOver['failOver'] | null;
}
/** Null where a Redis is needed and none is installed. */
export declare function startEngines(folder: string, queue: string, needs: Needs, closing: Closing): Promise<Engines | null>;
export {};
