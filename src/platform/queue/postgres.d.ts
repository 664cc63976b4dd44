import pg from 'pg';
import { type Backend, type Opened } from './backend.js';
export declare const queueSchema = "bullmq";
/** BullMQ's own tables, brought up to date. */
export declare const migrateQueue: (client: pg.Client) => Promise<number>;
/** All queues share one pool. */
export declare function postgresBackend(databaseUrl: string, opened: Opened, onError: (error: Error) => void): Backend;
