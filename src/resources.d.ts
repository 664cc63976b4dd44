import type { CompleteConfig } from './config.js';
import { type Pointers } from './deliveries/dispatch/pointers.js';
import type { HandOver } from './deliveries/outbox/hand-over.js';
import { type Targets } from './deliveries/outbox/targets.js';
import { type Times } from './deliveries/outbox/times.js';
import { type Sender } from './deliveries/send/sender.js';
import type { RecordDependencies } from './events/record.js';
import type { Logger } from './platform/logger.js';
import type { Metrics } from './platform/metrics.js';
import { type Database } from './platform/database/postgres.js';
import { type Producer, type QueueEngine } from './platform/queue/engine.js';
import { type RateLimits } from './platform/limits/rate-limit.js';
import type { createReleasers } from './platform/releasers.js';
import type { DropoffLocation } from './shipments/order.js';
import { type StateCatalogue } from './shipments/states.js';
import { type AtRest } from './webhooks/at-rest/at-rest.js';
import type { DestinationPolicy } from './webhooks/destination/destination.js';
import { type SecretBox } from './webhooks/at-rest/secrets.js';
export type Role = 'all' | 'api' | 'worker';
type Releasers = ReturnType<typeof createReleasers>;
/** What the roles share: connections, queues and the operator's data. */
export interface Resources {
    config: CompleteConfig;
    logger: Logger;
    releasers: Releasers;
    /** Short statements only: a request never waits long. */
    apiDb: Database;
    workerDb: Database;
    /** For claims and leases: a crash of PostgreSQL may forget one, which is a lease that ran out. */
    leaseDb: Database;
    engine: QueueEngine;
    /** Producers of the creation queue and of each delivery shard, by name. */
    producers: Map<string, Producer>;
    pointers: Pointers;
    times: Times;
    metrics: Metrics;
    /** Sends notifications: the worker's, and the API's tests. */
    sender: Sender;
    targets: Targets;
    enqueueCreation(shipmentId: string): Promise<void>;
    catalogue: StateCatalogue;
    dropoffLocations: DropoffLocation[];
    limits: RateLimits;
    secrets: SecretBox;
    /** What webhooks keep sealed. */
    sealed: AtRest;
    policy: DestinationPolicy;
    /** What recording state events takes, over one of the databases. */
    recording(db: Database, handOver: HandOver): RecordDependencies;
    terminalStates: string[];
}
export interface OpenOptions {
    config: CompleteConfig;
    databaseUrl: string;
    role: Role;
    /** Where this process is reached if nothing else is configured. */
    url: string;
    logger: Logger;
    metrics: Metrics;
    releasers: Releasers;
    /** Told why PostgreSQL cannot be used yet, again and again until it can. */
    onWaiting(reason: Error): void;
}
/** Opens everything a role needs; each resource pushes how it is released. Waits for PostgreSQL as long as it takes. */
export declare function openResources(options: OpenOptions): Promise<Resources>;
export {};
