import type { Express } from 'express';
import type { CompleteConfig } from './config.js';
import type { Logger } from './platform/logger.js';
import type { Database } from './platform/database/postgres.js';
import { type Role } from './resources.js';
export interface App {
    url: string;
    /** Its router tells which routes there are. */
    express: Express;
    /** For what a process does besides serving, such as the greeting. */
    db: Database;
    /** Drains and releases everything, last-in first-out. */
    stop(): Promise<void>;
}
/** The composition root: opens what a role needs, wires the features, answers when work can begin. */
export declare function startApp(config: CompleteConfig, databaseUrl: string, role: Role, logger: Logger): Promise<App>;
