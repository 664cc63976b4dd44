import { type PostgresServer } from './postgres-server.js';
import type { Build } from './service-process.js';
/** A build under measurement with engines of its own, which run as long as the bench does. */
export interface System {
    name: string;
    build: Build;
    nodeVersion: string;
    /** More settings of the service. */
    env: Record<string, string>;
    folder: string;
    postgres: PostgresServer;
    /** Null where none is installed. */
    redis: {
        url: string;
        pid: number;
        version: string;
        clear(): Promise<void>;
    } | null;
    stop(): Promise<void>;
}
export interface SystemPlan {
    name: string;
    build: Build;
    env: Record<string, string>;
    folder: string;
    /** The programs of an installed PostgreSQL; undefined for the embedded one. */
    postgresBinDir: string | undefined;
    withStatements: boolean;
}
export declare function startSystem(plan: SystemPlan): Promise<System>;
